import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createLive } from "../../../core/gateway/routes/v1/live.ts";

test("a stream that is left ends at once, and leaves nothing behind at its session", async () => {
  const { signal } = new AbortController();
  const live = createLive({
    newId: () => "run",
    now: () => 0,
    sessions: { ending: () => signal },
  } as unknown as Parameters<typeof createLive>[0]);
  const asking = { query: {}, headers: {}, caller: { name: "a browser", role: "view", session: { id: "1" } } };
  const { numbered } = live.open(asking as unknown as Parameters<typeof live.open>[0]);
  const events = numbered?.[Symbol.asyncIterator]();
  expect((await events?.next())?.value).toMatchObject({ data: { topic: "hello" } });
  // Nothing is published, so this waits.
  const next = events?.next();
  await events?.return?.();
  expect(await next).toEqual({ done: true, value: undefined });
  expect(getEventListeners(signal, "abort")).toEqual([]);
  live.close();
});
