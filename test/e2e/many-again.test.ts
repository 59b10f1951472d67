/** What an operator does with many events at once: run failed ones again, and end those that wait for a channel. */
import { createTestHost, type TestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import { EngineError } from "../../core/contract/index.ts";
import { run } from "../core/cli/command-runner.ts";
import { hookToken, postHook } from "./room.ts";

async function open() {
  const model: { away: boolean; heard: string[] } = { away: false, heard: [] };
  const host = await createTestHost({
    answer: ({ inbound }) => {
      if (model.away) throw new EngineError("model_unreachable", { detail: "it is away" });
      const [text = inbound.text] = /word \d+/.exec(inbound.text) ?? [];
      model.heard.push(text);
      return `heard: ${text}`;
    },
    config: { agents: { defaults: { patienceHours: 0, heartbeat: { every: "0" } } }, hooks: { token: hookToken } },
  });
  const command = async (...args: readonly string[]) =>
    await run([...args, "--config", host.configFile], { home: host.directory });
  const json = async (...args: readonly string[]) => JSON.parse((await command(...args, "--json")).out);
  const post = (message: string) =>
    postHook(host.url, "agent", { message, channel: "loopback", to: "owner", wakeMode: "next-heartbeat" });
  const poll = async (count: number) => await expect.poll(() => model.heard.length, { timeout: 10_000 }).toBe(count);
  return { host, model, command, json, post, poll };
}

const failedOf = (host: TestHost) => host.ended().filter(({ outcome }) => outcome === "failed").length;

test("events retry reruns every failed event once, chat messages too, even if the command is repeated", async () => {
  const { host, model, command, json, post, poll } = await open();
  await using _ = host;
  model.away = true;
  for (const word of [1, 2]) await post(`word ${word}`);
  for (const word of [3, 4]) await host.say(`word ${word}`, { from: "owner" });
  await expect.poll(async () => (await json("events", "list", "--outcome", "failed")).events.length).toBe(4);
  expect(failedOf(host)).toBe(2);
  expect(await json("events", "retry", "--outcome", "failed", "--dry-run")).toEqual({
    ...{ found: 4, reasons: { model_unreachable: 4 }, retried: [], running: false },
  });
  expect(await command("events", "retry", "--outcome", "failed")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--yes"),
  });
  expect(await json("events", "retry", "--outcome", "failed", "--code", "model_quota", "--yes")).toMatchObject({
    found: 0,
  });
  expect(await json("events", "retry", "--outcome", "failed", "--channel", "loopback", "--dry-run")).toMatchObject({
    found: 2,
  });
  expect(await json("hooks", "replay", "--failed", "--since", "1h", "--dry-run")).toMatchObject({ found: 2 });
  model.away = false;
  const pressed = await Promise.all([1, 2].map(() => json("events", "retry", "--outcome", "failed", "--yes")));
  expect(pressed.flatMap(({ retried }) => retried)).toHaveLength(4);
  await poll(4);
  expect(model.heard.toSorted()).toEqual(["word 1", "word 2", "word 3", "word 4"]);
  expect((await command("events", "retry", "--outcome", "failed", "--yes")).out).toContain(
    "There is no failed event that matches.",
  );
  expect((await command("hooks", "replay", "--failed", "--yes")).out).toContain(
    "There is no failed delivery that matches.",
  );
  expect(model.heard).toHaveLength(4);
});

test("hooks replay --failed reruns deliveries but not messages", async () => {
  const { host, model, command, json, post, poll } = await open();
  await using _ = host;
  model.away = true;
  await post("word 1");
  await host.say("word 2", { from: "owner" });
  await expect.poll(async () => (await json("events", "list", "--outcome", "failed")).events.length).toBe(2);
  model.away = false;
  expect(await command("hooks", "replay", "last", "--failed")).toMatchObject({ code: 2 });
  expect((await command("hooks", "replay", "--failed", "--yes")).out).toBe("1 failed delivery runs again.\n");
  await poll(1);
  expect(model.heard).toEqual(["word 1"]);
});

for (const running of [true, false])
  test(
    "events drop ends what waits for a channel " +
      `${running ? "at once" : "at the next start, where no gateway runs"}`,
    async () => {
      const opened = await open();
      const { host, model, command, json } = opened;
      await using _ = host;
      // Accepted while the channel was there.
      await host.say("word 0", { from: "owner" });
      await host.configure({ channels: { loopback: { enabled: false } } });
      const { eventId } = (await (
        await postHook(host.url, "agent", { message: "word 2", channel: "last", wakeMode: "next-heartbeat" })
      ).json()) as { eventId: string };
      await expect
        .poll(async () => (await json("status")).waits)
        .toMatchObject([{ channel: "loopback", events: 1, code: "account_not_open" }]);
      expect(await json("events", "drop", "--channel", "loopback", "--dry-run")).toMatchObject({
        found: 1,
        dropped: 0,
      });
      expect(await command("events", "drop", "--channel", "loopback")).toMatchObject({ code: 2 });
      if (running) {
        expect(await json("events", "drop", "--channel", "loopback", "--yes")).toMatchObject({
          found: 1,
          dropped: 1,
          running: true,
        });
      } else {
        const { addDrop } = await import("../../core/state/drops.ts");
        const { openSqliteStore } = await import("../../core/state/sqlite/index.ts");
        const store = await openSqliteStore({ directory: `${host.directory}/state`, now: host.now });
        await addDrop(store, { channel: "loopback", at: host.now() });
        await store.close();
        await host.restart();
      }
      expect(await host.settled(eventId)).toMatchObject({ outcome: "silent", reason: "dropped" });
      await host.configure({ channels: { loopback: { enabled: true } } });
      await host.say("word 3", { from: "owner" });
      expect(model.heard).not.toContain("word 2");
      expect(model.heard).toContain("word 3");
    },
  );
