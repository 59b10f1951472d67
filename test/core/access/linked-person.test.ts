/** What linked ids share beside their conversation: budgets, the place of reminders, exports and erasure. */
import { writeFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { definePlugin, type Json } from "../../../core/sdk/contract.ts";
import { removeDirectory } from "../../support/directory.ts";
import { createEngine, createLoopback, startGateway, type TestGateway } from "../../support/gateway.ts";
import { run } from "../cli/command-runner.ts";

const open: TestGateway[] = [];
afterEach(async () => {
  for (const { gateway, directory } of open.splice(0)) {
    await gateway.close();
    removeDirectory(directory);
  }
});

const access = { dmPolicy: "allowlist", allowFrom: ["2", "3"] };
const linked = {
  session: { dmScope: "per-peer", identityLinks: { ada: ["red:2", "blue:3"] } },
  channels: { red: access, blue: access },
};

/** Submits what a person asked for earlier in a direct chat, as reminders do. */
function createReminders() {
  let due: (text: string) => Promise<unknown> = async () => {};
  const plugin = definePlugin({
    id: "reminders",
    version: "1.0.0",
    host: "^0.2.0",
    setup(host) {
      host.tap("ingress", ({ source, id, body, authority, acceptedAt }) =>
        source === "reminders"
          ? {
              ...{ id, channel: "red", account: "default", kind: "system", mention: true, media: [], authority },
              ...{ chat: { id: "2", kind: "direct" }, sender: { id: "2" }, timestamp: acceptedAt },
              text: String(body),
              request: { address: { channel: "red", account: "default", chat: "2" }, deliverOnly: true },
            }
          : undefined,
      );
      due = (text) =>
        host.receive({ source: "reminders", kind: "say", lane: "reminders", authority: "channel", body: text as Json });
    },
  });
  return { plugin, due: (text: string) => due(text) };
}

async function openRoom(config: object) {
  const [red, blue] = [createLoopback({ id: "red" }), createLoopback({ id: "blue" })];
  const reminders = createReminders();
  const engine = createEngine(async function* ({ inbound, spending }) {
    const call = await spending?.begin({ model: "acme/model", inputTokens: 10, outputTokens: 5 });
    await spending?.end(call?.id ?? "", { inputTokens: 10, outputTokens: 5 });
    yield { type: "text", delta: `heard: ${inbound.text}` };
    yield { type: "done" };
  });
  const plugins = [red.plugin, blue.plugin, reminders.plugin, engine];
  const home = await startGateway({ config: { ...linked, ...config }, plugins });
  open.push(home);
  return { red, blue, home, reminders };
}

test("a reminder goes to where the person wrote last, and back to its own chat if that place is closed", async () => {
  const { red, blue, home, reminders } = await openRoom({});
  await home.settled(await red.say("on red", { sender: "2" }));
  await home.settled(await blue.say("on blue", { sender: "3" }));
  await reminders.due("tea");
  await expect.poll(() => blue.sent.at(-1)).toMatchObject({ chat: "3", text: "tea" });
  await home.settled(await red.say("on red again", { sender: "2" }));
  await reminders.due("bread");
  await expect.poll(() => red.sent.at(-1)).toMatchObject({ chat: "2", text: "bread" });
  await home.settled(await blue.say("on blue again", { sender: "3" }));
  // The access lists decide when it is due.
  const closed = {
    ...linked,
    channels: { red: access, blue: { ...access, allowFrom: ["9"] } },
    state: { dir: "state" },
  };
  writeFileSync(home.configFile, JSON.stringify({ gateway: { port: 0 }, ...closed }));
  await expect
    .poll(async () => {
      await reminders.due("milk");
      return red.sent.at(-1)?.text;
    })
    .toBe("milk");
  expect(blue.sent.some(({ text }) => text === "milk" && blue.sent.at(-1)?.text !== "milk")).toBe(false);
});

test("the budget of a person is used up on both platforms together", async () => {
  const { red, blue, home } = await openRoom({ budget: { perSenderPerDayTokens: 20 } });
  await home.settled(await red.say("one", { sender: "2" }));
  const second = await home.settled(await blue.say("two", { sender: "3" }));
  expect([red.sent.at(-1)?.text, second.outcome]).toEqual(["heard: one", "refused"]);
  // Another person has a budget of their own.
  await home.settled(await red.say("three", { sender: "3" }));
  expect(red.sent.at(-1)).toMatchObject({ chat: "3", text: "heard: three" });
});

test("an export and an erasure of one id are of the whole person, and no word remains", async () => {
  const { red, blue, home } = await openRoom({});
  await home.settled(await red.say("the secret is 1234", { sender: "2" }));
  await home.settled(await blue.say("my other secret is 5678", { sender: "3" }));
  const at = ["--config", home.configFile];
  const exported = await run(["privacy", "export", "red:2", ...at], { home: home.directory });
  const data = JSON.parse(exported.out);
  expect(data.conversations.map(({ session }: { session: string }) => session)).toEqual(["agent:main:person:ada"]);
  expect(data.linked.map(({ person }: { person: object }) => person)).toEqual([{ channel: "blue", id: "3" }]);
  expect(exported.out).toContain("5678");
  await home.gateway.close();
  const erased = await run(["privacy", "erase", "blue:3", "--json", ...at], { home: home.directory });
  expect(JSON.parse(erased.out)).toMatchObject({ erased: true, conversations: 1, linked: [{ erased: true }] });
  const after = await run(["privacy", "export", "red:2", ...at], { home: home.directory });
  for (const word of ["1234", "5678"]) expect(after.out).not.toContain(word);
});

test("`links` lists, confirms, denies and removes without a gateway", async () => {
  const { red, blue, home } = await openRoom({
    session: { dmScope: "per-peer" },
    commands: { ownerAllowFrom: ["red:9"] },
  });
  const at = ["--config", home.configFile];
  const links = (...args: string[]) => run(["links", ...args, ...at], { home: home.directory });
  const ask = async (from: typeof red, sender: string, text: string) => {
    await home.settled(await from.say(text, { sender }));
    return from.sent.filter(({ chat }) => chat === sender).at(-1)?.text ?? "";
  };
  const [, code] = /\/link ([A-Z0-9]{8})/.exec(await ask(red, "2", "/link")) ?? [];
  await ask(blue, "3", `/link ${code}`);
  const [, request = ""] = /links confirm ([A-Z0-9]{8})/.exec((await links("list")).out) ?? [];
  expect((await links("confirm", "AAAAAAAA")).code).toBe(2);
  expect((await links("confirm", request)).out).toBe("red:2 and blue:3 are linked.\n");
  await expect.poll(() => blue.sent.at(-1)?.text).toContain("are linked from now on");
  expect(JSON.parse((await links("list", "--json")).out)).toMatchObject({
    people: [
      {
        ids: [
          { channel: "red", id: "2" },
          { channel: "blue", id: "3" },
        ],
      },
    ],
    waiting: [],
  });
  expect((await links("remove", "red:2")).out).toBe("red:2 is no longer linked.\n");
  expect((await links("list")).out).toContain("No ids are linked");
});
