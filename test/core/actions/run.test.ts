import { describe, expect, test } from "vitest";
import { identityRule } from "../../../core/access/identity.ts";
import { pathsBelow } from "../../../core/access/place.ts";
import { createActionRunner } from "../../../core/actions/run.ts";
import type { LiveAccount } from "../../../core/channels/live-account.ts";
import { ChannelError } from "../../../core/contract/plugin-errors.ts";
import type { Inbound, Json, RawEvent } from "../../../core/contract/types.ts";
import type { ChannelConnection } from "../../../core/sdk/contract.ts";
import { message, route } from "../agents/inbound.ts";

/** A runner over a connection that is only what a test makes it; what it says is kept, and never ends. */
function runner(connection: Partial<ChannelConnection>, options: object = {}) {
  const said: RawEvent[] = [];
  const live = {
    channel: "irc",
    id: "default",
    path: "channels.irc",
    access: {},
    identity: identityRule("irc"),
    capabilities: { edits: true, reactions: true, threads: true, buttons: true },
    connection: {
      render: ({ text }: { readonly text: string }) =>
        (text.match(/.{1,10}/gs) ?? []).map((part) => ({ kind: "text", chars: part.length, body: part })),
      ...connection,
    },
    options: { retry: { attempts: 3, minDelayMs: 0, maxDelayMs: 0, jitter: 0 }, ...options },
  } as unknown as LiveAccount;
  const actions = createActionRunner({
    account: () => live,
    accountsOf: () => [live],
    pathsOf: () => pathsBelow("channels.irc"),
    isPaired: async () => false,
    async receive(event) {
      said.push(event);
      return { eventId: "e1", duplicate: false };
    },
    ends: { wait: async () => undefined },
    event: async () => null,
    sentBy: async () => [],
    random: () => 0.5,
  });
  const act = (name: string, args: object, inbound: Partial<Inbound> = {}) =>
    actions.run(name, args as Json, { by: "agent", inbound: message("hi", inbound), route: route(), key: "call-1" });
  const body = () => said.at(-1)?.body as unknown as { readonly text: string; readonly replyTo?: string };
  return { act, said, body };
}

/** Fails so often, then does it. */
function failing(times: number, error: () => Error) {
  let calls = 0;
  return {
    calls: () => calls,
    async react() {
      calls += 1;
      if (calls <= times) throw error();
    },
  };
}

describe("a change to an existing message", () => {
  const away = () => new ChannelError("network", { retryable: true, detail: "no answer" });

  test("is retried as often as the retry setting says", async () => {
    const twice = failing(2, away);
    expect(await runner(twice).act("react", { emoji: "👍" })).toEqual({ ok: true });
    const always = failing(9, away);
    expect(await runner(always).act("react", { emoji: "👍" })).toEqual({
      ok: false,
      code: "network",
      error: expect.stringMatching(/^no answer\. Check the network/),
    });
    expect(always.calls()).toBe(3);
    const once = failing(9, away);
    await runner(once, { retry: { attempts: 1 } }).act("react", { emoji: "👍" });
    expect(once.calls()).toBe(1);
  });

  test("is retried when its outcome is unknown, because repeating it has no further effect", async () => {
    const unknown = failing(1, () => new ChannelError("timeout", { retryable: false, fate: "unknown" }));
    expect(await runner(unknown).act("react", { emoji: "👍" })).toEqual({ ok: true });
  });

  test("is not retried after a refusal or for a rate limit longer than the caller waits", async () => {
    const no = failing(9, () => new ChannelError("no_rights", { detail: "you may not" }));
    expect(await runner(no).act("react", { emoji: "👍" })).toEqual({
      ok: false,
      code: "no_rights",
      error: expect.stringMatching(/^you may not\. Add the bot/),
    });
    expect(no.calls()).toBe(1);
    const flood = failing(9, () => new ChannelError("flood_wait", { retryable: true, retryAfterMs: 61_000 }));
    expect(await runner(flood).act("react", { emoji: "👍" })).toMatchObject({ code: "flood_wait" });
    expect(flood.calls()).toBe(1);
    const broken = failing(9, () => new TypeError("a bug"));
    expect(await runner(broken).act("react", { emoji: "👍" })).toMatchObject({ code: "channel_failed" });
    expect(broken.calls()).toBe(1);
  });

  test("targets the current message by default, and only in its own chat", async () => {
    const removed: string[] = [];
    const remove = async (messageId: string) => void removed.push(messageId);
    const { act } = runner({ remove });
    expect(await act("delete", {})).toEqual({ ok: true });
    expect(removed).toEqual(["7"]);
    const other = { to: { channel: "irc", account: "default", chat: "9" } };
    const elsewhere = await runner({ remove }).act("delete", { chatId: "9" }, { authority: "operator", ...other });
    expect(elsewhere).toMatchObject({ ok: false });
    expect(removed).toEqual(["7"]);
  });
});

describe("a message sent by an action", () => {
  test("stays stored if the platform does not accept it in time, and the caller learns that it waits", async () => {
    const { act, said } = runner({});
    expect(await act("send", { message: "hello" })).toEqual({
      ok: false,
      code: "action_waits",
      error: expect.stringContaining("Event e1"),
    });
    expect(said).toMatchObject([
      { source: "operator", kind: "action", authority: "operator", lane: "action:irc:default:42\tcontrol" },
    ]);
  });

  test("is deduplicated by the key of its call, whatever its text", async () => {
    const { act, said } = runner({});
    await act("send", { message: "hello" });
    await act("sendMessage", { content: "hello, in other words" });
    expect(said.map(({ dedupeKey }) => dedupeKey)).toEqual(["action:call-1", "action:call-1"]);
  });

  test("has no more authority than the hook that caused its turn", async () => {
    const { act, said } = runner({});
    await act("send", { message: "hello" }, { authority: "hook" });
    expect(said[0]?.authority).toBe("hook");
  });

  test("has its tags and silence tokens applied and removed, as in replies", async () => {
    const { act, body, said } = runner({});
    await act("send", { message: "[[reply_to_current]] Fine. NO_REPLY" });
    expect(body()).toMatchObject({ text: "Fine.", replyTo: "7" });
    await act("send", { message: "[[reply_to:12]]x", replyTo: "5" });
    expect(body()).toMatchObject({ text: "x", replyTo: "12" });
    expect(await act("send", { message: "NO_REPLY" })).toMatchObject({ ok: false, code: "nothing_to_send" });
    expect(said).toHaveLength(2);
  });

  test("must fit into the single message that it edits", async () => {
    const { act, said } = runner({});
    expect(await act("edit", { message: "far too long for one" })).toEqual({
      ok: false,
      code: "edit_too_long",
      error: "The text would be 2 messages; an edit can change only one.",
    });
    expect(said).toEqual([]);
  });
});
