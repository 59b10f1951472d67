/**
 * The reaction that says "seen": never left on a message that it is to be removed from, whatever the platform and the
 * process do.
 */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LiveAccount } from "../../../core/channels/live-account.ts";
import { ChannelError } from "../../../core/contract/plugin-errors.ts";
import { createAcknowledgements } from "../../../core/path/presence/acknowledging.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import type { Store } from "../../../core/state/store.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";

const place = { address: { channel: "irc", account: "default", chat: "42" }, messageId: "7" };
let directory: string;
let store: Store;

beforeEach(async () => {
  directory = temporaryDirectory();
  store = await openSqliteStore({ directory, now: Date.now });
  await store.begin(1);
});

afterEach(async () => {
  await store.close();
  removeDirectory(directory);
});

type React = (emoji: string | null, patience?: AbortSignal) => Promise<void>;

/** One process with a channel of one function. */
function process(react: React) {
  const calls: (string | null)[] = [];
  const closing = new AbortController();
  const connection = {
    react: async (_messageId: string, emoji: string | null, _address: unknown, patience?: AbortSignal) => {
      await react(emoji, patience);
      calls.push(emoji);
    },
  };
  const errors: unknown[] = [];
  const acknowledgements = createAcknowledgements({
    store,
    account: () =>
      ({
        connection,
        options: { retry: { attempts: 3, minDelayMs: 1, maxDelayMs: 1, jitter: 0 } },
      }) as unknown as LiveAccount,
    now: Date.now,
    random: () => 0.5,
    signal: closing.signal,
    onError: (error) => void errors.push(error),
  });
  const set = (removeAfter = true) =>
    acknowledgements.set("e", place, { emoji: "👀", removeAfter, onError: (error) => void errors.push(error) });
  return { calls, errors, closing, acknowledgements, set };
}

const kept = async () => (await store.list("acknowledged")).map(({ key }) => key);

test("the reaction is removed once the reply is sent, and never before it was set", async () => {
  const setting = Promise.withResolvers<void>();
  const { calls, set } = process((emoji) => (emoji === null ? Promise.resolve() : setting.promise));
  const seen = set();
  await vi.waitFor(async () => expect(await kept()).toEqual(["e"]), 60_000);
  seen.done();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(calls).toEqual([]);
  setting.resolve();
  await vi.waitFor(() => expect(calls).toEqual(["👀", null]), 60_000);
  await vi.waitFor(async () => expect(await kept()).toEqual([]), 60_000);
});

test("a reaction that is not to be removed stays, and leaves no record", async () => {
  const { calls, set } = process(async () => {});
  set(false).done();
  await vi.waitFor(() => expect(calls).toEqual(["👀"]), 60_000);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(calls).toEqual(["👀"]);
  expect(await kept()).toEqual([]);
});

test("the reaction is not set if the reply was faster than the platform's rate limits allow", async () => {
  const { calls, errors, set } = process(async (_emoji, patience) => {
    await new Promise((resolve) => patience?.addEventListener("abort", resolve));
    throw new ChannelError("aborted", { retryable: true });
  });
  const seen = set();
  await vi.waitFor(async () => expect(await kept()).toEqual(["e"]), 60_000);
  seen.done();
  await vi.waitFor(async () => expect(await kept()).toEqual([]), 60_000);
  expect([calls, errors]).toEqual([[], []]);
});

test("removing the reaction is retried if the platform does not accept the first attempt", async () => {
  let failures = 2;
  const { calls, errors, set } = process(async (emoji) => {
    if (emoji !== null || failures === 0) return;
    failures -= 1;
    throw new ChannelError("network", { retryable: true, fate: failures === 1 ? "unknown" : "not-sent" });
  });
  set().done();
  await vi.waitFor(() => expect(calls).toEqual(["👀", null]), 60_000);
  expect(errors).toHaveLength(2);
  await vi.waitFor(async () => expect(await kept()).toEqual([]), 60_000);
});

test("a reaction that is refused for good is reported and has no other effect", async () => {
  const { errors, set } = process(async () => {
    throw new ChannelError("reaction_invalid");
  });
  set().done();
  await vi.waitFor(() => expect(errors).toHaveLength(1), 60_000);
  await vi.waitFor(async () => expect(await kept()).toEqual([]), 60_000);
});

test("a killed process's reaction is removed at the next start, or later when its event ends", async () => {
  const lane = "irc:default:42";
  for (const id of ["ended", "open"]) {
    await store.accept({ event: { source: "irc", kind: "update", lane, authority: "channel", body: {} }, id, at: 1 });
    await store.set("acknowledged", id, place as never);
  }
  await store.claim(lane, { now: 1, limit: 1 });
  await store.settle({ unitId: "ended", at: 1, outcome: "answered", reason: "answered", decisions: [] });
  const next = process(async () => {});
  await next.acknowledgements.mendEnded();
  await vi.waitFor(async () => expect(await kept()).toEqual(["open"]), 60_000);
  expect(next.calls).toEqual([null]);
  await next.acknowledgements.mend("open");
  await next.acknowledgements.mend("nothing was left of this one");
  expect(next.calls).toEqual([null, null]);
  expect(await kept()).toEqual([]);
});

test("a reaction that a closing gateway cannot remove is removed at its next start", async () => {
  const { closing, set } = process(async (emoji) => {
    if (emoji === null) throw new ChannelError("flood_wait", { retryable: true, retryAfterMs: 60_000 });
  });
  set().done();
  await vi.waitFor(async () => expect(await kept()).toEqual(["e"]), 60_000);
  closing.abort();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await kept()).toEqual(["e"]);
});

test("a store outage fails only the lookup of a reaction, which the next start removes", async () => {
  const { calls, acknowledgements } = process(async () => {});
  await store.set("acknowledged", "e", place);
  await store.close();
  await expect(acknowledgements.mend("e")).resolves.toBeUndefined();
  expect(calls).toEqual([]);
  store = await openSqliteStore({ directory, now: Date.now });
  const next = process(async () => {});
  await next.acknowledgements.mendEnded();
  await vi.waitFor(() => expect(next.calls).toEqual([null]), 60_000);
});
