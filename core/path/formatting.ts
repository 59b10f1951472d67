/**
 * Station 5: the reply passes through the formatting taps; then the channel renders it into parts, each within the
 * platform's limits.
 */

import { setImmediate as nextLoop } from "node:timers/promises";
import type { LiveAccount } from "../channels/index.ts";
import {
  type Address,
  ChannelError,
  type Inbound,
  isOfState,
  type Outcome,
  type Part,
  PluginError,
  type Reply,
  reasonOf,
} from "../contract/index.ts";
import type { ChannelConnection } from "../sdk/contract.ts";
import type { FormattingContext, Hooks, Visit } from "../stations/index.ts";
import { aboutOf } from "./answer-place.ts";
import { type Stop, type Trace, textReply } from "./endings/ending.ts";
import { Interrupted } from "./endings/hand-back.ts";
import { ephemeralRecipient, publicReply } from "./fitting/ephemeral.ts";
import { fittingReply, withRequestedFields } from "./fitting/fitting-reply.ts";
import type { AgentSide, CompleteReply } from "./options.ts";
import { simplerReplies } from "./plain-text.ts";
import { endedText, endNotes } from "./shown-text.ts";

/** A row for the outbox, before it has a number. */
export interface Saying {
  readonly address: Address;
  readonly operation: "send" | "remove";
  readonly part: Part;
}

/** A formatted reply: what goes into the outbox, and how the event ends once that is sent. */
export interface Formatted {
  readonly outcome: Outcome;
  readonly reason: string;
  readonly reply: Reply;
  readonly sayings: readonly Saying[];
}

export async function formatting(
  reply: Reply,
  context: FormattingContext,
  options: {
    readonly hooks: Hooks;
    readonly trace: Trace;
    readonly visit: Visit;
    readonly previews: readonly string[];
    readonly account: (channel: string, account: string) => LiveAccount | undefined;
    readonly silence: (reply: Reply, inbound: Inbound) => string | null;
    readonly asSent: (reply: Reply, context: FormattingContext) => Reply;
    readonly speak: (reply: Reply, context: FormattingContext) => ReturnType<AgentSide["speak"]>;
    readonly completeReply: CompleteReply;
    /** Aborted when the gateway closes. */
    readonly signal: AbortSignal;
  },
): Promise<Formatted | Stop> {
  const { hooks, trace, previews } = options;
  const { inbound, route } = context;
  const cleared = route.to === null ? [] : removals(previews, route.to);
  let formatted: Reply;
  try {
    formatted = await hooks.formatting(reply, context, options.visit);
  } catch (error) {
    if (isOfState(error)) throw error;
    // The reply is not sent: the failed tap may be the one that redacts.
    const plugin = error instanceof PluginError ? error.plugin : "core";
    trace.add("formatting", { plugin, verdict: "failed", code: "formatting_failed", detail: reasonOf(error) });
    return { outcome: "failed", reason: "formatting_failed", reply, sayings: cleared };
  }
  const empty = formatted.text.trim() === "" && formatted.media.length === 0;
  const silence = options.silence(formatted, inbound) ?? (empty ? "empty_reply" : null);
  if (silence !== null) {
    trace.add("formatting", { plugin: "core", verdict: "silent", code: silence });
    return { outcome: "silent", reason: silence, reply: formatted, sayings: cleared };
  }
  trace.add("formatting", { plugin: "core", verdict: "pass", code: "formatted" });
  const spoken = options.speak(formatted, context);
  const voiced = spoken === undefined ? formatted : await withVoice(spoken, options);
  const whole = voiced === null || voiced.media.length === 0 ? voiced : await withFiles(voiced, context, options);
  if (whole === null) {
    trace.add("formatting", {
      plugin: "core",
      verdict: "silent",
      code: "stopped",
      detail: "stopped while its files were fetched",
    });
    const { text } = options.asSent({ ...formatted, media: [], buttons: [] }, context);
    return {
      stop: { outcome: "silent", reason: "stopped" },
      shown: endedText(text, endNotes.stopped),
      spoken: endedText(formatted.text, endNotes.stopped),
    };
  }
  if (whole === undefined)
    return { outcome: "failed", reason: "media_unavailable", reply: formatted, sayings: cleared };
  return render(withRequestedFields(whole, inbound.request), context, options);
}

/** The reply with its voice message, or alone. `null`: it was stopped. */
async function withVoice(
  speaking: NonNullable<ReturnType<AgentSide["speak"]>>,
  { trace, signal }: { readonly trace: Trace; readonly signal: AbortSignal },
): Promise<Reply | null> {
  const spoken = await speaking;
  if (signal.aborted) throw new Interrupted();
  if (spoken === null) return null;
  trace.add("formatting", { plugin: "core", verdict: "pass", ...spoken.note });
  return spoken.reply;
}

/**
 * Runs after every tap, so that files added by taps are checked too. A missing file is mentioned in the reply and does
 * not fail it. A message to be sent unchanged is sent complete or, with `undefined`, not at all. `null`: it was
 * stopped, which ends a reply here as during its turn.
 */
async function withFiles(
  reply: Reply,
  { inbound, route }: FormattingContext,
  {
    trace,
    completeReply,
    signal,
  }: { readonly trace: Trace; readonly completeReply: CompleteReply; readonly signal: AbortSignal },
): Promise<Reply | undefined | null> {
  const completed = await completeReply(reply, route, signal);
  if (signal.aborted) throw new Interrupted();
  if (completed === null) return null;
  const { reply: complete, problems } = completed;
  const fails = inbound.request?.deliverOnly === true;
  for (const detail of problems)
    trace.add("formatting", { plugin: "core", verdict: fails ? "failed" : "pass", code: "media_unavailable", detail });
  return fails && problems.length > 0 ? undefined : complete;
}

/**
 * What precedes and follows the rendering of a longer text, such as its last preview and the rows of its parts, is done
 * in other turns.
 */
const longText = 8_000;

/** Lets the event loop do what waits, before the next piece of work on a long text. */
const pauseFor = ({ text }: Reply): Promise<void> | undefined => (text.length > longText ? nextLoop() : undefined);

/** Renders the parts, or gives the reason why there is no recipient or no channel. */
async function render(
  reply: Reply,
  context: FormattingContext,
  {
    trace,
    previews,
    account,
    asSent,
  }: {
    readonly trace: Trace;
    readonly previews: readonly string[];
    readonly account: (channel: string, account: string) => LiveAccount | undefined;
    readonly asSent: (reply: Reply, context: FormattingContext) => Reply;
  },
): Promise<Formatted> {
  const { route } = context;
  const { to } = route;
  if (to === null) {
    const reason = route.undeliverable ?? "no_recipient";
    trace.add("delivery", { plugin: "core", verdict: "silent", code: reason });
    return { outcome: "silent", reason, reply, sayings: [] };
  }
  const live = account(to.channel, to.account);
  // Its account was closed before the turn began, so nothing can render the reply yet.
  if (live === undefined)
    throw new ChannelError("account_not_open", { retryable: true, detail: `${to.channel}:${to.account} is not open` });
  const partsOf = (formattedReply: Reply) =>
    renderSayings(asSent(formattedReply, context), to, {
      account: live,
      previews,
      about: aboutOf(context.inbound, to),
      inbound: context.inbound,
      inPlace: formattedReply.media.length === 0 && formattedReply.buttons.length === 0,
      mayOmitFiles: formattedReply.media.length > 0 && context.inbound.request?.deliverOnly !== true,
      onOmitted: (detail) =>
        trace.add("formatting", { plugin: to.channel, verdict: "pass", code: "part_omitted", detail }),
    });
  let sayings: readonly Saying[];
  try {
    await pauseFor(reply);
    sayings = await partsOf(reply);
    await pauseFor(reply);
  } catch (error) {
    const plugin = error instanceof PluginError ? error.plugin : to.channel;
    const detail = reasonOf(error);
    const hint = `Correct or disable the plugin ${plugin}.`;
    // A message to be delivered unchanged is sent complete or not at all.
    const whole = context.inbound.request?.deliverOnly === true && reply.media.length + reply.buttons.length > 0;
    const simpler = whole
      ? undefined
      : await firstRendered(simplerReplies(reply, live.capabilities), partsOf, live.capabilities.maxChars);
    if (simpler === undefined) {
      trace.add("formatting", { plugin, verdict: "failed", code: "render_failed", detail, hint });
      return { outcome: "failed", reason: "render_failed", reply, sayings: removals(previews, to) };
    }
    trace.add("formatting", {
      plugin,
      verdict: "pass",
      code: "sent_as_text",
      detail: `${detail}. The reply is sent as plain text`,
      hint,
    });
    return { outcome: "answered", reason: "answered", reply, sayings: simpler };
  }
  if (!sayings.some(({ operation }) => operation === "send")) {
    // The reply consists of empty markup, such as an empty code block.
    trace.add("formatting", {
      plugin: to.channel,
      verdict: "silent",
      code: "empty_reply",
      detail: "The reply contains nothing visible.",
    });
    return { outcome: "silent", reason: "empty_reply", reply, sayings };
  }
  const { maxChars } = live.capabilities;
  const tooLong = sayings.find(({ part }) => part.chars > maxChars);
  if (tooLong !== undefined) {
    const detail = `A part has ${tooLong.part.chars} characters; ${to.channel} accepts at most ${maxChars}.`;
    trace.add("formatting", { plugin: to.channel, verdict: "failed", code: "part_too_long", detail });
    return { outcome: "failed", reason: "part_too_long", reply, sayings: removals(previews, to) };
  }
  return { outcome: "answered", reason: "answered", reply, sayings };
}

/** The first of several forms of a reply that the channel can render as sendable parts. */
async function firstRendered(
  replies: readonly Reply[],
  partsOf: (reply: Reply) => Promise<readonly Saying[]>,
  maxChars: number,
): Promise<readonly Saying[] | undefined> {
  for (const reply of replies) {
    try {
      const sayings = await partsOf(reply);
      const sends = sayings.filter(({ operation }) => operation === "send");
      if (sends.length > 0 && sends.every(({ part }) => part.chars <= maxChars)) return sayings;
    } catch {
      // Only the reason for the first form is reported.
    }
  }
  return undefined;
}

/**
 * The parts in order. `inPlace`: texts replace the messages of the preview, as edits. Remaining preview messages, or
 * all of them if the reply is not a text, are removed after the reply has arrived. `mayOmitFiles`: a text may be sent
 * without the files that the platform refuses.
 */
export async function renderSayings(
  reply: Reply,
  address: Address,
  options: {
    readonly account: Pick<LiveAccount, "channel" | "connection" | "capabilities" | "platformFields">;
    readonly previews: readonly string[];
    readonly about?: Parameters<ChannelConnection["render"]>[2];
    /** What is answered. */
    readonly inbound?: Inbound | undefined;
    readonly inPlace?: boolean;
    readonly mayOmitFiles?: boolean;
    readonly onOmitted?: (what: string) => void;
  },
): Promise<readonly Saying[]> {
  const { account, previews, about, inbound, mayOmitFiles = false, onOmitted } = options;
  const fitting = fittingReply(reply, account, onOmitted);
  const onlyFor =
    reply.to === undefined
      ? undefined
      : ephemeralRecipient(reply, { inbound, address, capabilities: account.capabilities });
  const shown = fitting.to === undefined || onlyFor !== undefined ? fitting : publicReply(fitting);
  const parts = await account.connection.render(shown, address, about);
  // Everyone sees the preview, and it was sent without the fields.
  const inPlace = options.inPlace === true && onlyFor === undefined && shown.platform === undefined;
  const taken = inPlace && previews.length > 0 && parts.every(isEditable) ? previews.slice(0, parts.length) : [];
  const sayings: Saying[] = parts.map((rendered, index) => {
    const whole = rendered.omitted === undefined ? rendered : reportOmitted(rendered, onOmitted);
    const addressed: Part = onlyFor === undefined ? whole : { ...whole, onlyFor };
    const part: Part = mayOmitFiles ? { ...addressed, mayOmitFiles: true } : addressed;
    if (index === 0 && reply.replaces !== undefined)
      return { address, operation: "send", part: { ...part, replaces: reply.replaces, inPlace: true } };
    const replaces = taken[index];
    return { address, operation: "send", part: replaces === undefined ? part : { ...part, replaces } };
  });
  return [...sayings, ...removals(previews.slice(taken.length), address)];
}

/**
 * A text of the gateway itself: a pairing code, an apology. If the channel cannot render it, nothing is sent, and the
 * event ends as planned. `place`: where a preview is removed, or edited to `shown`, which contains the whole text.
 */
export async function renderNotice(
  stopReply: Stop["say"],
  options: {
    readonly account: (channel: string, account: string) => LiveAccount | undefined;
    readonly trace: Trace;
    readonly previews?: readonly string[];
    readonly place?: Address | null;
    readonly shown?: string | undefined;
  },
): Promise<readonly Saying[]> {
  const { account, trace, previews = [], place = null, shown } = options;
  const cleared = place === null ? [] : removals(previews, place);
  const inPlace = shown !== undefined && previews.length > 0 && place !== null;
  const notice: Stop["say"] = inPlace ? { address: place, reply: textReply(shown) } : stopReply;
  if (notice === undefined) return cleared;
  const live = account(notice.address.channel, notice.address.account);
  if (live === undefined) return [];
  try {
    const { address, reply, inbound } = notice;
    const { writeCommands } = live;
    const named = writeCommands === undefined ? reply : { ...reply, text: writeCommands(reply.text) };
    return await renderSayings(named, address, { account: live, previews, inbound, inPlace });
  } catch (error) {
    const plugin = error instanceof PluginError ? error.plugin : notice.address.channel;
    trace.add("formatting", { plugin, verdict: "pass", code: "notice_not_sent", detail: reasonOf(error) });
    return cleared;
  }
}

/** Reports omitted content to the trace and removes it from the outbox row. */
function reportOmitted({ omitted = [], ...part }: Part, onOmitted: ((what: string) => void) | undefined): Part {
  for (const what of omitted) onOmitted?.(what);
  return part;
}

/** An edit can change a text only into another text, and cannot make it reply to a different message. */
function isEditable({ kind, replyTo, replyImplied }: Part): boolean {
  return kind === "text" && (replyTo === undefined || replyImplied === true);
}

/** Removes previews that did not become replies. */
export function removals(previews: readonly string[], address: Address): readonly Saying[] {
  return previews.map((messageId) => ({
    address,
    operation: "remove",
    part: { kind: "preview", chars: 0, body: null, replaces: messageId },
  }));
}
