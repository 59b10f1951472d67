import { expect, test } from "vitest";
import type { LiveAccount } from "../../../core/channels/live-account.ts";
import type { Address, Inbound, Part, Reply } from "../../../core/contract/types.ts";
import { Trace } from "../../../core/path/endings/ending.ts";
import { Interrupted } from "../../../core/path/endings/hand-back.ts";
import { type Formatted, formatting, renderSayings, type Saying } from "../../../core/path/formatting.ts";
import type { CompleteReply } from "../../../core/path/options.ts";
import type { ChannelConnection } from "../../../core/sdk/contract.ts";
import { createHooks } from "../../../core/stations/stations.ts";
import { Visit } from "../../../core/stations/visit.ts";
import { message, route } from "../agents/inbound.ts";

const address: Address = { channel: "botchat", account: "default", chat: "7" };
const text = (more: Partial<Part> = {}): Part => ({ kind: "text", chars: 4, body: "text", ...more });
const said: Reply = { text: "text", media: [], buttons: [] };

/** A channel whose render says what the test says; what it is told of the trigger is kept. */
function connectionOf(parts: readonly Part[]) {
  const triggers: (string | undefined)[] = [];
  const render: ChannelConnection["render"] = (_reply, _address, about) => {
    triggers.push(about?.trigger);
    return parts;
  };
  return { triggers, connection: { render } as ChannelConnection };
}

const accountOf = (parts: readonly Part[]) => ({ connection: connectionOf(parts).connection }) as LiveAccount;

/** `edit 1` for a part that becomes message 1, `send`, `remove 1`. */
const steps = (sayings: readonly Saying[]) =>
  sayings.map(({ operation, part }) =>
    operation === "remove" ? `remove ${part.replaces}` : part.replaces ? `edit ${part.replaces}` : "send",
  );

test.each([
  ["texts take the preview over", [text(), text()], ["1"], ["edit 1", "send"]],
  ["what is left of the preview is removed behind them", [text()], ["1", "2"], ["edit 1", "remove 2"]],
  ["texts that reply as the preview did take it over", [text({ replyTo: "9", replyImplied: true })], ["1"], ["edit 1"]],
  ["texts that reply to something else do not", [text({ replyTo: "5" }), text()], ["1"], ["send", "send", "remove 1"]],
  ["files do not", [text(), text({ kind: "photo" })], ["1"], ["send", "send", "remove 1"]],
  ["a reply that shows nothing leaves nothing", [], ["1"], ["remove 1"]],
] as const)("%s", async (_, parts, previews, expected) => {
  expect(steps(await renderSayings(said, address, { account: accountOf(parts), previews, inPlace: true }))).toEqual(
    expected,
  );
});

test("a message beside the reply is sent anew with its notification, and the preview is removed", async () => {
  expect(steps(await renderSayings(said, address, { account: accountOf([text()]), previews: ["1"] }))).toEqual([
    "send",
    "remove 1",
  ]);
});

const nothingToComplete: CompleteReply = () => Promise.reject(new Error("a reply without files asks for none"));

async function format(
  parts: readonly Part[],
  {
    reply = said,
    inbound = message("hi", { messageId: "3" }),
    completeReply = nothingToComplete,
    signal = new AbortController().signal,
  }: { reply?: Reply; inbound?: Inbound; completeReply?: CompleteReply; signal?: AbortSignal } = {},
) {
  const { connection, triggers } = connectionOf(parts);
  const live = { connection, capabilities: { maxChars: 10 } } as LiveAccount;
  const trace = new Trace(
    () => 1,
    (text) => text,
  );
  const formatted = await formatting(
    reply,
    { inbound, route: route({ to: { channel: inbound.channel, account: inbound.account, chat: inbound.chat.id } }) },
    {
      hooks: createHooks({ onObserverError: () => {} }),
      trace,
      visit: new Visit(),
      previews: ["1"],
      account: () => live,
      silence: () => null,
      speak: () => undefined,
      asSent: (same) => same,
      completeReply,
      signal,
    },
  );
  return { formatted: formatted as Formatted, triggers, decisions: trace.take() };
}

test("the channel learns which message is answered if a person wrote one", async () => {
  expect((await format([text()])).triggers).toEqual(["3"]);
  expect((await format([text()], { inbound: message("hi", { messageId: "3", kind: "press" }) })).triggers).toEqual([
    undefined,
  ]);
});

test("a reply with buttons is sent anew", async () => {
  const buttons = [[{ text: "ok", value: "ok" }]];
  expect(steps((await format([text()])).formatted.sayings)).toEqual(["edit 1"]);
  expect(steps((await format([text()], { reply: { ...said, buttons } })).formatted.sayings)).toEqual([
    "send",
    "remove 1",
  ]);
});

test("a text may be sent without its files, except in a message that must be complete", async () => {
  const reply: Reply = { ...said, media: [{ path: "/a.png" }] };
  const completeReply: CompleteReply = async (same) => ({ reply: same, problems: [] });
  const flags = async (inbound: Inbound) =>
    (await format([text()], { reply, completeReply, inbound })).formatted.sayings.map(({ part }) => part.mayOmitFiles);
  expect(await flags(message("hi"))).toEqual([true, undefined]);
  expect(await flags({ ...message("hi"), request: { deliverOnly: true } as never })).toEqual([undefined, undefined]);
  expect((await format([text()])).formatted.sayings[0]?.part).not.toHaveProperty("mayOmitFiles");
});

test("what a channel omits is recorded in the trace, not in the outbox", async () => {
  const { formatted, decisions } = await format([text({ omitted: ["the button x: too long"] })]);
  expect(decisions).toContainEqual(
    expect.objectContaining({ plugin: "irc", code: "part_omitted", detail: "the button x: too long" }),
  );
  expect(formatted.sayings[0]?.part).not.toHaveProperty("omitted");
});

test("a part that is too long for the channel is not sent, and the plugin is named", async () => {
  const { formatted, decisions } = await format([text({ chars: 10 }), text({ chars: 11 })]);
  expect(formatted).toMatchObject({ outcome: "failed", reason: "part_too_long" });
  expect(steps(formatted.sayings)).toEqual(["remove 1"]);
  expect(decisions.at(-1)).toMatchObject({
    plugin: "irc",
    verdict: "failed",
    detail: "A part has 11 characters; irc accepts at most 10.",
  });
});

const withFile: Reply = { ...said, media: [{ url: "http://files.example/a.png" }] };
const without: CompleteReply = async (reply) => ({
  reply: { ...reply, text: "text [media unavailable]", media: [] },
  problems: ["a.png is gone"],
});

test("an unavailable file is recorded in the trace, and the reply is sent", async () => {
  const { formatted, decisions } = await format([text()], { reply: withFile, completeReply: without });
  expect(formatted).toMatchObject({ outcome: "answered", reply: { text: "text [media unavailable]" } });
  expect(decisions).toContainEqual(
    expect.objectContaining({ verdict: "pass", code: "media_unavailable", detail: "a.png is gone" }),
  );
});

test("a deliver-only message is sent completely or not at all", async () => {
  const inbound = message("hi", { messageId: "3", request: { deliverOnly: true } });
  const { formatted, decisions } = await format([text()], { reply: withFile, inbound, completeReply: without });
  expect(formatted).toMatchObject({ outcome: "failed", reason: "media_unavailable" });
  expect(steps(formatted.sayings)).toEqual(["remove 1"]);
  expect(decisions.at(-1)).toMatchObject({ verdict: "failed", code: "media_unavailable" });
});

test("a reply that is stopped while its files are fetched is not sent, and its visible text stays", async () => {
  const { formatted, decisions } = await format([text()], { reply: withFile, completeReply: async () => null });
  const kept = "text\n\n(stopped)";
  expect(formatted).toEqual({ stop: { outcome: "silent", reason: "stopped" }, shown: kept, spoken: kept });
  expect(decisions.at(-1)).toMatchObject({ verdict: "silent", code: "stopped" });
});

test("a gateway that closes while fetching files sends nothing without them; the event runs again", async () => {
  const close = new AbortController();
  const completeReply: CompleteReply = async (reply) => {
    close.abort();
    return { reply, problems: [] };
  };
  await expect(format([text()], { reply: withFile, completeReply, signal: close.signal })).rejects.toThrow(Interrupted);
});
