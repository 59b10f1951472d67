import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { LiveAccount } from "../../../core/channels/live-account.ts";
import type { Acknowledgement } from "../../../core/path/presence/acknowledging.ts";
import { LivePresence } from "../../../core/path/presence/presence.ts";
import type { ChannelConnection } from "../../../core/sdk/contract.ts";
import { message } from "../agents/inbound.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000 }));
afterEach(() => void vi.useRealTimers());

function open(
  connection: Partial<ChannelConnection>,
  more: {
    readonly authority?: "channel" | "hook";
    readonly trigger?: string | undefined;
    readonly acknowledge?: (messageId: string) => Acknowledgement;
  } = {},
) {
  const { authority = "channel", acknowledge } = more;
  const errors: string[] = [];
  const live = { connection, capabilities: { reactions: true, typing: true, edits: true } } as LiveAccount;
  const presence = new LivePresence(
    live,
    { channel: "irc", account: "default", chat: "42" },
    {
      now: () => Date.now(),
      inbound: message("hi", { authority }),
      trigger: "trigger" in more ? more.trigger : "7",
      acknowledge,
      key: "0123456789abcpreview",
      resume: [],
      onPreviewMessage: () => {},
      onUncertain: () => {},
      onError: (_error, what) => void errors.push(what),
    },
  );
  return { presence, errors };
}

describe("the acknowledgement reaction", () => {
  test("is on the answered message from the beginning until the reply is sent", () => {
    const calls: string[] = [];
    const acknowledge = (messageId: string) => {
      calls.push(messageId);
      return { done: () => void calls.push("done"), giveWay: async () => {} };
    };
    const { presence } = open({}, { acknowledge });
    expect(calls).toEqual(["7"]);
    presence.done();
    expect(calls).toEqual(["7", "done"]);
  });

  test("is not set if the reply goes elsewhere", () => {
    const acknowledge = vi.fn(() => ({ done() {}, giveWay: async () => {} }));
    open({}, { trigger: undefined, acknowledge }).presence.done();
    expect(acknowledge).not.toHaveBeenCalled();
  });
});

describe("typing", () => {
  test("begins after a moment, continues every five seconds, and ends with the turn", async () => {
    const typing = vi.fn(async () => {});
    const { presence } = open({ typing });
    await vi.advanceTimersByTimeAsync(299);
    expect(typing).toHaveBeenCalledTimes(0);
    await vi.advanceTimersByTimeAsync(10_001);
    expect(typing).toHaveBeenCalledTimes(3);
    await presence.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(typing).toHaveBeenCalledTimes(3);
  });

  test("ends two minutes after the last progress", async () => {
    const typing = vi.fn(async () => {});
    const { presence } = open({ typing });
    await vi.advanceTimersByTimeAsync(100_000);
    presence.progress();
    await vi.advanceTimersByTimeAsync(100_000);
    const calls = typing.mock.calls.length;
    expect(calls).toBe(40);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(typing.mock.calls.length - calls).toBeLessThanOrEqual(4);
  });

  test("ends when the platform refuses it twice in a row, but not after one refusal", async () => {
    const fates = [true, false, true, false, false];
    const typing = vi.fn(async () => {
      if (fates.shift() === false) throw new Error("forbidden");
    });
    const { errors } = open({ typing });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(typing).toHaveBeenCalledTimes(5);
    expect(errors).toHaveLength(3);
  });

  test("is shown only to people, as is a preview", async () => {
    const typing = vi.fn(async () => {});
    const preview = vi.fn();
    const { presence } = open({ typing, preview }, { authority: "hook" });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(typing).not.toHaveBeenCalled();
    expect(presence.shows).toBe(false);
  });
});

describe("the preview", () => {
  test("opens with the first text, learns which message is answered, passes its messages to the reply", async () => {
    const update = vi.fn();
    const preview = vi.fn(() => ({ update, close: async () => ["9"] }));
    const { presence } = open({ preview });
    expect(preview).not.toHaveBeenCalled();
    presence.show("some");
    presence.show("some text");
    expect(preview).toHaveBeenCalledExactlyOnceWith(expect.anything(), expect.objectContaining({ trigger: "7" }));
    expect(update.mock.calls).toEqual([["some"], ["some text"]]);
    expect(await presence.close()).toEqual(["9"]);
  });

  test("that cannot be closed does not fail a turn", async () => {
    const close = async () => {
      throw new Error("lost");
    };
    const { presence, errors } = open({ preview: () => ({ update() {}, close }) });
    presence.show("some text");
    expect(await presence.close()).toEqual([]);
    expect(errors).toEqual(["preview"]);
  });
});
