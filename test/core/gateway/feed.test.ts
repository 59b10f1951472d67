import { expect, test } from "vitest";
import { createFeed, type Topic } from "../../../core/gateway/routes/v1/feed.ts";

async function read(feed: ReturnType<typeof createFeed>, topics: readonly Topic[], count: number, lastId?: string) {
  const { signal } = new AbortController();
  const events = feed.follow(new Set(topics), { lastId, signal });
  const found: unknown[] = [];
  for (let index = 0; index <= count; index += 1) found.push((await events.next()).value?.data);
  return found.slice(1);
}

test("a flood of log lines displaces no event, and costs only clients that read the log", async () => {
  const feed = createFeed(() => "run");
  feed.publish("events", { id: "first" });
  for (let line = 0; line < 5_000; line += 1) feed.publish("log", { line });
  feed.publish("events", { id: "last" });
  expect(await read(feed, ["events"], 2, "run-0")).toEqual([
    { topic: "events", data: { id: "first" } },
    { topic: "events", data: { id: "last" } },
  ]);
  const [skipped, ...rest] = await read(feed, ["events", "log"], 2_002, "run-0");
  expect(skipped).toEqual({ topic: "skipped", skipped: 3_001 });
  expect(rest[0]).toEqual({ topic: "log", data: { line: 3_000 } });
  expect(rest.at(-1)).toEqual({ topic: "events", data: { id: "last" } });
});

test("lines of a megabyte are all that is held, however long each is", async () => {
  const feed = createFeed(() => "run");
  for (let line = 0; line < 200; line += 1) feed.publish("log", { line, text: "x".repeat(10_000) });
  const [skipped, first] = await read(feed, ["log"], 2, "run-0");
  expect(skipped).toEqual({ topic: "skipped", skipped: 96 });
  expect(first).toMatchObject({ data: { line: 96 } });
});
