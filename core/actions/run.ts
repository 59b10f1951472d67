/** Performs an action: reads it, checks permissions, determines the recipient, then acts. */
import type { PathOf } from "../access/index.ts";
import { type LiveAccount, readPlatformFields, retryPolicy, sleep, waitBefore } from "../channels/index.ts";
import {
  type Accepted,
  type Address,
  ChannelError,
  type Decision,
  type Json,
  type OutboundMedia,
  PluginError,
  type RawEvent,
  type Reply,
  reasonOf,
} from "../contract/index.ts";
import { judgeUrl } from "../media/web-address.ts";
import { applyReplyTags, isNoReply, withoutTokens } from "../reply/index.ts";
import type { EventReport, Store } from "../state/index.ts";
import type { End, Ends } from "./ends.ts";
import { actionEvent, type Saying } from "./events.ts";
import { checkAction, checkButtons, type Gated } from "./gates.ts";
import { checkIds, readAction } from "./read.ts";
import { type ActionCaller, accountFor, placeAtHand, type RecipientDeps, recipientFor } from "./recipients.ts";
import { type ActionRefusal, type ActionResult, isRefusal, refuse, sentences } from "./result.ts";
import type { ActionCall } from "./schema.ts";

export interface ActionsDeps extends Omit<RecipientDeps, "pathOf"> {
  /** Finds the configuration paths of an account's options. */
  readonly pathsOf: (at: { readonly channel: string; readonly account: string }) => PathOf;
  readonly receive: (event: RawEvent) => Promise<Accepted>;
  readonly ends: Ends;
  readonly event: Store["event"];
  /** The messages of a unit that were sent, in order. */
  readonly sentBy: (unitId: string) => Promise<readonly { readonly chat: string; readonly messageId: string }[]>;
  readonly random: () => number;
}

export interface ActionRunner {
  /** Performs an action. Anything the caller can correct is returned as a refusal, not thrown. */
  run(name: string, args: Json, caller: ActionCaller, signal?: AbortSignal): Promise<ActionResult>;
  /** Ends all waiting calls; they return that the message is still queued. */
  close(): void;
}

/** After this time, in milliseconds, the call returns that the message is still queued. It is sent nevertheless. */
const waitMs = 60_000;
/** Longest wait for a platform in a call that is not stored, in milliseconds. */
const longestWaitMs = 60_000;
const usualStickers = 5;

/** An action that passed all checks. */
interface Doing {
  readonly call: ActionCall;
  readonly caller: ActionCaller;
  readonly live: LiveAccount;
  readonly address: Address;
  readonly signal: AbortSignal;
  /** Aborts only the waiting, for example when the gateway closes. */
  readonly patience: AbortSignal;
}

export function createActionRunner(deps: ActionsDeps): ActionRunner {
  const closing = new AbortController();
  const pathOf = ({ channel, id }: LiveAccount) => deps.pathsOf({ channel, account: id });

  async function run(call: ActionCall, caller: ActionCaller, signal: AbortSignal): Promise<ActionResult> {
    const live = accountFor(call, caller, { ...deps, pathOf });
    if (isRefusal(live)) return live;
    const gated: Gated = { live, pathOf: pathOf(live), by: caller.by };
    const closed = checkAction(call.action, gated);
    if (closed !== undefined) return closed;
    const oddId = checkIds(call, live.capabilities);
    if (oddId !== undefined) return oddId;
    if (call.action === "sticker-search") return await findStickers(call, live);
    const recipient = await recipientFor(call, caller, live, { ...deps, pathOf });
    if (isRefusal(recipient)) return recipient;
    const { address, kind } = recipient;
    const doing: Doing = { call, caller, live, address, signal, patience: AbortSignal.any([signal, closing.signal]) };
    const noButtons = checkButtons(call, gated, kind);
    if (noButtons !== undefined) return noButtons;
    if (call.action === "delete" || call.action === "react") return await change(doing);
    return await speak(doing);
  }

  /** Sends a message through the same path as every reply. */
  async function speak(doing: Doing): Promise<ActionResult> {
    const { caller, live, address, patience } = doing;
    const saying = await sayingOf(doing);
    if (isRefusal(saying)) return saying;
    if (caller.by === "operator" && caller.dryRun === true) {
      const unfetchable = await judgeMedia(saying.media);
      return unfetchable ?? { ok: true, dryRun: true, ...placeOf(address), ...(await partsOf(saying, live)) };
    }
    const { eventId } = await deps.receive(actionEvent(saying, caller));
    const end = await deps.ends.wait(eventId, { ms: waitMs, signal: patience });
    if (end === undefined)
      return refuse(
        "action_waits",
        `It is accepted and will be sent as soon as the platform accepts it. Event ${eventId} shows what ` +
          "happened to it.",
      );
    // The chat that the message was actually sent to, because the group may have got a new id meanwhile.
    const sent = await deps.sentBy(eventId);
    if (end.outcome !== "answered") {
      const failure = failureOf(await deps.event(eventId), end);
      const [first] = sent;
      return first === undefined
        ? failure
        : { ...failure, error: `${failure.error} Part of it was sent, as message ${first.messageId}.` };
    }
    // Read from the store, because an earlier process may have sent the first parts.
    const ids = sent.map(({ messageId }) => messageId);
    const [messageId] = ids;
    if (messageId === undefined) return refuse("nothing_sent", "Nothing was sent.");
    return {
      ok: true,
      messageId,
      chatId: sent[0]?.chat ?? address.chat,
      ...(ids.length > 1 ? { messageIds: ids } : {}),
    };
  }

  /** Changes an existing message at once, and retries where that is safe. These calls are idempotent. */
  async function change({ call, caller, live, address, signal, patience }: Doing): Promise<ActionResult> {
    const messageId = messageOf(call, caller, address);
    if (messageId === undefined)
      return refuse("invalid_arguments", "messageId is missing: there is no current message in that chat.");
    const { connection } = live;
    const isThere = call.action === "delete" ? connection.remove !== undefined : connection.react !== undefined;
    if (!isThere) return refuse("not_supported", `The channel ${live.channel} cannot ${call.action} messages.`);
    if (caller.by === "operator" && caller.dryRun === true) return { ok: true, dryRun: true, ...placeOf(address) };
    const emoji = (call.emoji ?? "").trim();
    const once = async () =>
      call.action === "delete"
        ? await connection.remove?.(messageId, address, signal)
        : await connection.react?.(messageId, emoji === "" ? null : emoji, address);
    const policy = retryPolicy(live.options);
    for (let attempt = 1; ; attempt += 1) {
      try {
        await once();
        return { ok: true };
      } catch (error) {
        const reason = error instanceof ChannelError ? error.reason : "channel_failed";
        const wait =
          error instanceof ChannelError
            ? (error.retryAfterMs ?? waitBefore(attempt, policy, deps.random))
            : Number.POSITIVE_INFINITY;
        const again = error instanceof ChannelError && (error.retryable || error.fate === "unknown");
        if (!again || attempt >= policy.attempts || wait > longestWaitMs || !(await sleep(wait, patience)))
          return refused(reason, error);
      }
    }
  }

  async function findStickers(
    { query = "", limit = usualStickers }: ActionCall,
    { channel, connection }: LiveAccount,
  ): Promise<ActionResult> {
    if (connection.findMedia === undefined) return refuse("not_supported", `The channel ${channel} has no stickers.`);
    const found = await connection.findMedia("sticker", query, limit);
    return { ok: true, stickers: found.map(({ ref, ...facts }) => ({ fileId: ref, ...facts })) };
  }

  return {
    async run(name, args, caller, signal = new AbortController().signal) {
      const call = readAction(name, args);
      if (isRefusal(call)) return call;
      try {
        return await run(call, caller, signal);
      } catch (error) {
        // The channel plugin is at fault, so the error names it. Nothing was stored.
        if (error instanceof PluginError) return refuse("channel_failed", sentences(error.message, error.hint));
        throw error;
      }
    },
    close: () => closing.abort(),
  };
}

function refused(reason: string, error: unknown): ActionResult {
  if (!(error instanceof ChannelError)) return refuse(reason, sentences(reasonOf(error)));
  const refusal = refuse(reason, sentences(reasonOf(error), error.hint));
  return error.fate === "unknown" ? { ...refusal, outcome: "unknown" } : refusal;
}

/** The target message: the named one, else the current one if it is in that chat. */
function messageOf(call: ActionCall, caller: ActionCaller, { channel, account, chat }: Address): string | undefined {
  if (call.messageId !== undefined || caller.by === "operator") return call.messageId;
  const here = placeAtHand(caller);
  const isHere =
    caller.inbound.authority === "channel" &&
    here?.channel === channel &&
    here.account === account &&
    here.chat === chat;
  return isHere ? caller.inbound.messageId : undefined;
}

async function sayingOf({ call, caller, live, address }: Doing): Promise<Saying | ActionRefusal> {
  const replaces = call.action === "edit" ? messageOf(call, caller, address) : undefined;
  if (call.action === "edit" && replaces === undefined)
    return refuse("invalid_arguments", "messageId is missing: there is no current message in that chat.");
  const given = wordsOf(call, caller, address);
  if (given.text.trim() === "" && given.media.length === 0)
    return refuse("nothing_to_send", "The message contains nothing that people can see.");
  const own = call.platform === undefined ? {} : readPlatformFields(call.platform, live);
  if ("problem" in own) return refuse("invalid_arguments", own.problem);
  const saying: Saying = {
    address,
    text: given.text,
    ...(caller.by === "agent" ? { agentId: caller.route.agentId } : {}),
    ...(given.media.length === 0 ? {} : { media: given.media }),
    // In an edit, an empty row removes the existing buttons.
    ...(call.buttons === undefined
      ? {}
      : { buttons: call.buttons.length === 0 && replaces !== undefined ? [[]] : call.buttons }),
    replyTo: given.replyTo,
    ...(call.silent === true ? { silent: true } : {}),
    ...(own.fields === undefined ? {} : { platform: { [live.channel]: own.fields } }),
    replaces,
  };
  if (replaces === undefined) return saying;
  const { parts } = await partsOf(saying, live);
  return parts.length === 1
    ? saying
    : refuse("edit_too_long", `The text would be ${parts.length} messages; an edit can change only one.`);
}

/** The text and files without reply tags and silence tokens, which agents sometimes write here, too. */
function wordsOf(call: ActionCall, caller: ActionCaller, address: Address): Pick<Reply, "text" | "media" | "replyTo"> {
  const media = mediaOf(call);
  const { text = "", replyTo } = call;
  const given: Reply = { text, media, buttons: [], replyTo };
  if (caller.by === "operator") return given;
  const messageId = messageOf({ action: "send" }, caller, address);
  const { messageId: _other, ...inbound } = caller.inbound;
  const tagged = applyReplyTags(given, messageId === undefined ? inbound : { ...inbound, messageId });
  return { ...tagged, text: isNoReply(tagged.text) ? "" : withoutTokens(tagged.text) };
}

function mediaOf({ action, media, fileName, fileId, asVoice, asVideoNote }: ActionCall): readonly OutboundMedia[] {
  if (action === "sticker") return fileId === undefined ? [] : [{ ref: fileId, as: "sticker" }];
  if (media === undefined || media.trim() === "") return [];
  const as = asVoice === true ? "voice" : asVideoNote === true ? "round-video" : undefined;
  const at = /^[a-z][a-z0-9+.-]*:\/\//i.test(media.trim()) ? { url: media.trim() } : { path: media.trim() };
  return [{ ...at, ...(fileName === undefined ? {} : { fileName }), ...(as === undefined ? {} : { as }) }];
}

/** Checks addresses like the download would. Names are not looked up, because a dry run does not use the network. */
async function judgeMedia(media: readonly OutboundMedia[] = []): Promise<ActionRefusal | undefined> {
  for (const { url } of media) {
    try {
      if (url !== undefined) await judgeUrl(url);
    } catch (error) {
      if (error instanceof ChannelError) return refuse(error.reason, sentences(reasonOf(error), error.hint));
      throw error;
    }
  }
  return undefined;
}

const placeOf = ({ chat, thread }: Address) => ({ chatId: chat, threadId: thread });

async function partsOf({ address, text, media = [], buttons = [], platform }: Saying, { connection }: LiveAccount) {
  const parts = await connection.render({ text, media, buttons, platform }, address);
  return { parts: parts.map(({ kind, chars }) => ({ kind, chars })) };
}

/** The decision that ended the event provides the explanation. */
function failureOf(report: EventReport | null, { outcome, reason }: End): ActionRefusal {
  const isDeciding = ({ verdict }: Decision) => verdict === "failed" || verdict === "refused" || verdict === "silent";
  const { detail, path, hint } = report?.decisions.findLast(isDeciding) ?? {};
  const what = detail ?? `It ended ${outcome}: ${reason}`;
  const refusal = refuse(reason, sentences(path === undefined ? what : `${what} (${path})`, hint));
  return reason === "send_fate_unknown" ? { ...refusal, outcome: "unknown" } : refusal;
}
