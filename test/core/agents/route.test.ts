import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRouter } from "../../../core/agents/route.ts";
import type { LastRecipient, SessionRecord } from "../../../core/state/session.ts";
import { message } from "./inbound.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open() {
  let stored: LastRecipient | undefined;
  let reads = 0;
  const router = createRouter({
    config: () => ({}),
    store: {
      async session() {
        reads += 1;
        return (stored === undefined ? null : { lastRecipient: stored }) as SessionRecord | null;
      },
      async updateSession(_key, { lastRecipient }) {
        stored = lastRecipient ?? stored;
      },
    },
    defaultAccount: () => "default",
    resolve: async (target) => target,
    admits: async () => true,
    isKnown: () => true,
    topics: () => ({}),
    links: { fresh: () => undefined, personOf: () => undefined, lastPlace: async () => undefined, wrote() {} },
    now: Date.now,
  });
  const write = async (id: string) =>
    void (await router.route(message("hi", { sender: { id }, chat: { id, kind: "direct" } })));
  return {
    write,
    last: async () => (await router.lastRecipient("main"))?.chat,
    reads: () => reads,
    stored: () => stored?.chat,
    /** As the command line or another node does. */
    store: (chat: string | undefined) => {
      stored = chat === undefined ? undefined : { channel: "irc", account: "default", chat, senderId: chat };
    },
  };
}

test("the last recipient is read once per burst of messages and comes from the last message", async () => {
  const { write, last, reads, stored } = open();
  await Promise.all([write("1"), write("2"), write("1"), write("2")]);
  expect(await last()).toBe("2");
  await vi.advanceTimersByTimeAsync(10);
  expect(stored()).toBe("2");
  const before = reads();
  for (let index = 0; index < 20; index += 1) await write("2");
  expect(reads()).toBe(before);
});

test("a recipient erased or changed by another node is noticed soon; the next message stores it again", async () => {
  const { write, last, stored, store } = open();
  await write("1");
  await vi.advanceTimersByTimeAsync(2_000);
  store(undefined);
  expect(await last()).toBeUndefined();
  await write("1");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(stored()).toBe("1");
  store("2");
  expect(await last()).toBe("2");
  await write("1");
  await vi.advanceTimersByTimeAsync(10);
  expect([await last(), stored()]).toEqual(["1", "1"]);
});
