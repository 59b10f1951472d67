import { expect, onTestFinished, test } from "vitest";
import { createWaitingEvents, type WaitingEvent } from "../../../core/agents/conversation/waiting-events.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";

const day = 24 * 60 * 60_000;

async function open() {
  const directory = temporaryDirectory();
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const store = await openSqliteStore({ directory, now });
  onTestFinished(async () => {
    await store.close();
    removeDirectory(directory);
  });
  await store.begin(clock.now);
  return { clock, waiting: createWaitingEvents({ store, now }) };
}

const textsOf = (events: readonly WaitingEvent[]) => events.map(({ text }) => text);

test("events wait in order, separately for each session, and a repeated event is stored once", async () => {
  const { clock, waiting } = await open();
  for (const id of ["a", "b", "a"]) await waiting.add("one", { id, at: clock.now, text: `text ${id}` });
  await waiting.add("two", { id: "c", at: clock.now, text: "elsewhere" });
  expect(textsOf(await waiting.of("one"))).toEqual(["text b", "text a"]);
  expect(textsOf(await waiting.of("two"))).toEqual(["elsewhere"]);
  expect(await waiting.of("three")).toEqual([]);
});

test("delivered events are removed, and events that arrived meanwhile stay", async () => {
  const { clock, waiting } = await open();
  await waiting.add("one", { id: "a", at: clock.now, text: "first" });
  const read = await waiting.of("one");
  await waiting.add("one", { id: "b", at: clock.now, text: "second" });
  await waiting.remove("one", read);
  expect(textsOf(await waiting.of("one"))).toEqual(["second"]);
  await waiting.remove("one", await waiting.of("one"));
  expect(await waiting.of("one")).toEqual([]);
});

test("only the newest 50 events are stored, each with at most 1,000 characters, for seven days", async () => {
  const { clock, waiting } = await open();
  for (let index = 0; index < 60; index += 1)
    await waiting.add("one", { id: String(index), at: clock.now, text: `${index} ${"x".repeat(2_000)}` });
  const kept = await waiting.of("one");
  expect(kept).toHaveLength(50);
  expect(kept[0]?.id).toBe("10");
  expect(kept[0]?.text).toHaveLength(1_000);
  clock.now += 5 * day;
  await waiting.add("one", { id: "late", at: clock.now, text: "late" });
  clock.now += 3 * day;
  expect(textsOf(await waiting.of("one"))).toEqual(["late"]);
});

test("a session whose key changes keeps its waiting events", async () => {
  const { clock, waiting } = await open();
  await waiting.add("old", { id: "a", at: clock.now, text: "before" });
  await waiting.move("old", "new");
  expect(textsOf(await waiting.of("new"))).toEqual(["before"]);
  expect(await waiting.of("old")).toEqual([]);
});
