/**
 * When a send of unknown fate is repeated: after the platform has answered another call of the account, on a played
 * clock.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createContacts } from "../../../core/channels/connection/contact.ts";
import type { Log } from "../../../core/log/log.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;
const hour = 3_600_000;

/** The contact of an account whose `probe` answers as it is told, with the seconds at which it was probed. */
function open(probe: "up" | "down" | "silent" | "none" | "gone" = "down") {
  const probed: number[] = [];
  const platform: { probe: typeof probe } = { probe };
  const log = { info() {}, warn() {}, child: () => log } as unknown as Log;
  const connection = () => {
    if (platform.probe === "gone") return undefined;
    if (platform.probe === "none") return {};
    return {
      async probe() {
        probed.push((Date.now() - 1_000_000) / 1_000);
        if (platform.probe === "silent") await new Promise(() => {});
        return { ok: platform.probe === "up", detail: "" };
      },
    };
  };
  const contacts = createContacts({ connection, log });
  const contact = contacts.of("irc", "default");
  const ends: string[] = [];
  const wait = (mark = contact.failed(), signal = never) =>
    void contact.answersAfter(mark, signal).then((how) => ends.push(how));
  return { probed, platform, contacts, contact, ends, wait };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("a retry", () => {
  test("is due as soon as a call succeeds that began after the failure, but not for an earlier call", async () => {
    const { contact, ends, wait } = open();
    const before = contact.calling();
    wait();
    const refused = contact.calling();
    const after = contact.calling();
    before();
    await pass(1);
    expect([ends, contact.waiting()]).toEqual([[], 1]);
    after();
    await pass(1);
    expect([ends, contact.waiting()]).toEqual([["may-send"], 0]);
    refused();
    wait(0);
    await pass(1);
    expect(ends).toEqual(["may-send", "may-send"]);
  });

  test.each(["down", "silent"] as const)(
    "is held while the platform is %s, with probes after 2, 10, 60 s, then each minute, for 24 hours",
    async (is) => {
      const { probed, contact, ends, wait } = open(is);
      wait();
      await pass(200_000);
      expect(probed).toEqual([2, 10, 60, 120, 180]);
      await pass(24 * hour - 200_000);
      expect(ends).toEqual(["too-late"]);
      await pass(hour);
      expect([probed.length, contact.waiting(), vi.getTimerCount()]).toEqual([1_441, 0, 0]);
    },
  );

  test("is due for all waiting sends when a probe succeeds; the next outage restarts the probe schedule", async () => {
    const { probed, platform, ends, wait } = open();
    wait();
    await pass(5_000);
    wait();
    platform.probe = "up";
    await pass(5_000);
    expect([ends, probed]).toEqual([
      ["may-send", "may-send"],
      [2, 10],
    ]);
    platform.probe = "down";
    wait();
    await pass(3_000);
    expect(probed).toEqual([2, 10, 12]);
  });

  test("of another account keeps waiting", async () => {
    const { contacts, ends, wait } = open();
    wait();
    contacts.of("irc", "work").calling()();
    contacts.of("mail", "default").calling()();
    await pass(1_000);
    expect(ends).toEqual([]);
  });

  test("is not held for an account that is removed, before or during the wait", async () => {
    const { platform, ends, wait } = open();
    wait();
    platform.probe = "gone";
    wait();
    await pass(1);
    expect(ends).toEqual(["may-send"]);
    await pass(2_000);
    expect(ends).toEqual(["may-send", "may-send"]);
  });

  test("ends immediately when the gateway closes, and leaves no timer", async () => {
    const { ends, wait } = open();
    const closing = new AbortController();
    wait(undefined, closing.signal);
    closing.abort();
    wait(undefined, closing.signal);
    await pass(1);
    expect([ends, vi.getTimerCount()]).toEqual([["closing", "closing"], 0]);
  });
});

describe("a channel that does not report its calls", () => {
  test("takes a successful send as proof that the platform responds", async () => {
    const { contact, ends, wait } = open();
    wait();
    contact.sending()();
    await pass(1);
    expect(ends).toEqual(["may-send"]);
  });

  test("retries after a minute if it cannot be probed", async () => {
    const { ends, wait } = open("none");
    wait();
    await pass(59_999);
    expect(ends).toEqual([]);
    await pass(1);
    expect(ends).toEqual(["may-send"]);
  });
});

test("on a channel that reports its calls, a send proves nothing, because it may have made no call", async () => {
  const { contact, ends, wait } = open("none");
  contact.calling();
  wait();
  contact.sending()();
  await pass(hour);
  expect(ends).toEqual([]);
});
