/** One person on two platforms: `/link`, what is shared, and what attackers try. */
import { afterEach, expect, test } from "vitest";
import { createLinkRequests } from "../../../core/access/links/requests.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";
import { createEngine, createLoopback, type Loopback, startGateway, type TestGateway } from "../../support/gateway.ts";

const open: TestGateway[] = [];
afterEach(async () => {
  for (const { gateway, directory } of open.splice(0)) {
    await gateway.close();
    removeDirectory(directory);
  }
});

/** Two platforms with an owner (1), two guests (2 and 3) on each, and an engine that repeats its conversation. */
async function openRoom(config: Readonly<Record<string, unknown>> = {}) {
  const [red, blue] = [createLoopback({ id: "red" }), createLoopback({ id: "blue" })];
  const engine = createEngine(({ messages, inbound }) => {
    const heard = messages.filter(({ role }) => role === "user").length;
    return inbound.text.startsWith("count") ? `heard ${heard}` : "ok";
  });
  const access = { dmPolicy: "allowlist", allowFrom: ["1", "2", "3"] };
  const home = await startGateway({
    config: {
      session: { dmScope: "per-channel-peer" },
      commands: { ownerAllowFrom: ["red:1", "blue:1"] },
      channels: { red: access, blue: access },
      ...config,
    },
    plugins: [red.plugin, blue.plugin, engine],
  });
  open.push(home);
  /** What the bot replies in the sender's direct chat. */
  async function ask(at: Loopback, sender: string, text: string): Promise<string> {
    const before = at.sent.length;
    await home.settled(await at.say(text, { sender }));
    const replies = at.sent.slice(before).filter(({ chat }) => chat === sender);
    return replies.map((one) => one.text).join("\n");
  }
  const codeIn = (text: string) => /\/link ([A-Z0-9]{8})/.exec(text)?.[1] ?? "";
  const requestIn = (text: string) => /\/link confirm ([A-Z0-9]{8})/.exec(text)?.[1] ?? "";
  const lastTo = (at: Loopback, chat: string) => at.sent.filter((one) => one.chat === chat).at(-1)?.text ?? "";
  /** A guest links two ids, up to the owner's confirmation. */
  async function propose(one: string, other: string): Promise<string> {
    await ask(blue, other, `/link ${codeIn(await ask(red, one, "/link"))}`);
    const asked = [...red.sent, ...blue.sent].filter(({ chat, text }) => chat === "1" && requestIn(text) !== "");
    return requestIn(asked.at(-1)?.text ?? "");
  }
  return { red, blue, home, ask, codeIn, requestIn, lastTo, propose };
}

test("two guests' ids become one conversation after an owner's confirmation, and both read so", async () => {
  const { red, blue, ask, codeIn, lastTo, requestIn } = await openRoom();
  await ask(red, "2", "before");
  const shown = await ask(red, "2", "/link");
  expect(await ask(blue, "2", `/link ${codeIn(shown).toLowerCase()}`)).toBe("An owner is asked to confirm it.");
  await expect.poll(() => lastTo(red, "2")).toContain('Your code was typed by blue:2 ("Person 2")');
  await expect.poll(() => [...red.sent, ...blue.sent].some(({ text }) => requestIn(text) !== "")).toBe(true);
  const question = [...red.sent, ...blue.sent].find(({ text }) => requestIn(text) !== "");
  expect([question?.chat, question?.text]).toEqual(["1", expect.stringContaining("Rights stay as they are")]);
  expect(await ask(blue, "2", "count")).toBe("heard 1");
  expect(await ask(blue, "1", `/link confirm ${requestIn(question?.text ?? "")}`)).toContain("are linked from now on");
  await expect.poll(() => lastTo(red, "2")).toContain("are linked from now on");
  await ask(red, "2", "on red");
  expect(await ask(blue, "2", "count both")).toBe("heard 2");
  // Their own rights: an owner's command stays one.
  expect(await ask(blue, "2", "/link confirm ABCDEFGH")).toBe("Only an owner can do that.");
  expect(await ask(blue, "2", "/link remove")).toContain("no longer linked");
  await expect.poll(() => ask(blue, "2", "count own")).toMatch(/heard [23]/);
});

test("an owner on both platforms needs no confirmation", async () => {
  const { red, blue, ask, codeIn } = await openRoom();
  expect(await ask(blue, "1", `/link ${codeIn(await ask(red, "1", "/link"))}`)).toContain("are linked from now on");
  await ask(red, "1", "on red");
  expect(await ask(blue, "1", "count")).toBe("heard 2");
});

test("a guest who gives an owner a code is linked only if the owner confirms what it means", async () => {
  const { red, blue, ask, codeIn, requestIn } = await openRoom();
  const answer = await ask(blue, "1", `/link ${codeIn(await ask(red, "3", "/link"))}`);
  expect(answer).toContain("each of the two can read what the other one wrote to me");
  await ask(blue, "1", "a secret of the owner");
  expect(await ask(red, "3", "count")).toBe("heard 1");
  expect(await ask(red, "3", `/link confirm ${requestIn(answer)}`)).toBe("Only an owner can do that.");
  expect(await ask(blue, "1", `/link deny ${requestIn(answer)}`)).toBe("Denied.");
  expect(await ask(blue, "1", `/link confirm ${requestIn(answer)}`)).toContain("There is no such request");
  // The same two cannot ask again and again.
  expect(await ask(blue, "1", `/link ${codeIn(await ask(red, "3", "/link"))}`)).toContain("An owner has denied this");
});

test("a code works once and for ten minutes, only in a direct chat, and a guess locks the guesser", async () => {
  const { red, blue, ask, codeIn, propose } = await openRoom();
  const code = codeIn(await ask(red, "2", "/link"));
  await ask(blue, "2", `/link ${code}`);
  expect(await ask(blue, "3", `/link ${code}`)).toContain("I do not know this code");
  // The owner is asked once about two ids.
  expect(await ask(blue, "2", `/link ${codeIn(await ask(red, "2", "/link"))}`)).toContain("was asked to confirm");
  const first = codeIn(await ask(red, "3", "/link"));
  await ask(red, "3", "/link");
  expect(await ask(blue, "3", `/link ${first}`)).toContain("I do not know this code");
  await blue.say(`/link ${first}`, { sender: "3", chat: "g", group: true, mention: true });
  await expect.poll(() => blue.sent.at(-1)?.text).toContain("This works in a direct chat only");
  const own = codeIn(await ask(blue, "3", "/link"));
  expect(await ask(blue, "3", `/link ${own}`)).toContain("That is the chat in which you asked for the code");
  const guesses = [];
  for (const letter of "BCDEFGHJK") guesses.push(await ask(blue, "3", `/link AAAAAAA${letter}`));
  expect(guesses.at(-1)).toContain("Too many wrong codes");
  expect(await ask(blue, "3", `/link ${codeIn(await ask(red, "3", "/link"))}`)).toContain("Too many wrong codes");
  // Another person is not locked out by that.
  expect(await propose("2", "1")).not.toBe("");
});

test("a person whose code was stolen cancels the request, and the owner's confirmation comes to nothing", async () => {
  const { red, blue, ask, propose } = await openRoom();
  const request = await propose("2", "3");
  await ask(red, "2", "/link cancel");
  expect(await ask(blue, "1", `/link confirm ${request}`)).toContain("There is no such request");
});

test("the configuration links without a command, decides over one, and refuses a wrong entry by its path", async () => {
  const session = { dmScope: "per-peer", identityLinks: { ada: ["red:2", "blue:3"] } };
  const { red, blue, ask } = await openRoom({ session });
  await ask(red, "2", "on red");
  expect(await ask(blue, "3", "count")).toBe("heard 2");
  expect(await ask(red, "2", "/link")).toContain("session.identityLinks");
  expect(await ask(red, "2", "/link remove")).toContain("session.identityLinks");
  // An id that is called like the person is another's.
  expect(await ask(red, "3", "count")).toBe("heard 1");
});

test("codes and requests expire, and of two owners only one can use a request", async () => {
  const directory = temporaryDirectory();
  let clock = 1_000_000;
  const store = await openSqliteStore({ directory, now: () => clock });
  try {
    const requests = createLinkRequests({ store, now: () => clock });
    const end = (channel: string, id: string) => ({
      ...{ channel, id, address: { channel, account: "default", chat: id } },
    });
    const code = await requests.begin(end("red", "2"));
    clock += 10 * 60_000;
    expect(await requests.use(code, end("blue", "2"))).toEqual({ ok: false, locked: false });
    const { code: request } = await requests.propose([end("red", "2"), end("blue", "2")]);
    const taken = await Promise.all([requests.take(request), requests.take(request)]);
    expect(taken.filter((one) => one !== undefined).length).toBe(1);
    const { code: late } = await requests.propose([end("red", "2"), end("blue", "2")]);
    clock += 24 * 60 * 60_000;
    expect([await requests.waiting(), await requests.take(late)]).toEqual([[], undefined]);
  } finally {
    await store.close();
    removeDirectory(directory);
  }
});
