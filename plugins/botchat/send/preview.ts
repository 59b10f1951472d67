/**
 * The live preview: a message that grows by edits while a turn runs.
 *
 * Its states: `collecting` (too little to show), `resting` (what is shown is all there is), `waiting` (until the next
 * edit is due), `calling` (one call is under way), `lost` (it is unknown whether a message arrived: another one might stay beside it for
 * ever), `closed`. Only the newest text counts; nothing is queued.
 */
import type { Address, Json, PluginLog } from "service-gateway/sdk";
import { ChannelError, type ChannelPreview } from "service-gateway/sdk/channel";
import { id, record } from "../intake/fields.ts";
import type { AccountOptions } from "../options.ts";
import type { BotApi } from "../wire/api.ts";
import { createGrowingText } from "./growing-text.ts";
import type { Pace } from "./limits.ts";
import { blockEnd } from "./preview-blocks.ts";
import { messageLimit } from "./render.ts";
import { replyFields, sendTarget } from "./send.ts";
import type { Shown } from "./shown.ts";

/** Less is not worth a notification. */
const leastChars = 30;
/** A quick answer needs no preview: it would only be a second call. */
const firstAfterMs = 150;
const editEveryMs = 1_000;
/** A preview that was just shown lets the other topics of the chat go first. */
const afterOthersMs = 100;
/** A group takes 20 messages a minute, edits included; the answer needs some of them. */
const groupEditEveryMs = 3_000;
/** In a row. */
const mostFailures = 3;
/** A call that hangs is given up after this time; the answer waits for it. */
const closeGraceMs = 5_000;

type State = "collecting" | "resting" | "waiting" | "calling" | "lost" | "closed";

export interface PreviewOptions {
  /** The client is made on first use. */
  readonly api: () => Promise<BotApi>;
  readonly address: Address;
  readonly settings: AccountOptions;
  readonly pace: Pace;
  /** Receives at the end what the messages show. */
  readonly shown: Shown;
  readonly log: PluginLog;
  readonly resume: readonly string[];
  /** The message that is being answered. */
  readonly trigger?: string;
  onMessage(messageIds: readonly string[]): void;
}

type Payload = { readonly [key: string]: Json };

interface Change {
  /** The first message that does not show what it should. */
  readonly index: number;
  readonly payload: Payload;
}

/** Fields of a preview's message that is sent again. Only the first makes a sound: it becomes the answer by an edit, which makes none. */
function sendFields(index: number, { address, settings, trigger }: Pick<PreviewOptions, "address" | "settings" | "trigger">): object {
  const { replyToMode } = settings;
  const replies = replyToMode === "all" || (replyToMode === "first" && index === 0);
  return {
    ...sendTarget(address),
    ...(index > 0 && { disable_notification: true }),
    ...(replies && replyFields(trigger)),
  };
}

export function createPreview(options: PreviewOptions): ChannelPreview {
  const { address, settings, pace, log } = options;
  const ids = [...options.resume];
  /** What each message shows, as far as this process knows. */
  const shown: (Payload | undefined)[] = ids.map(() => undefined);
  const messagesOf = createGrowingText(settings);
  const stop = new AbortController();
  const everyMs = address.chat.startsWith("-") ? groupEditEveryMs : editEveryMs;
  let state: State = "collecting";
  let wanted = "";
  /** All of this is shown. */
  let whole: string | undefined;
  let blockAt = 0;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  function visible(): string {
    if (settings.streamMode !== "block") return wanted;
    blockAt = blockEnd(wanted, blockAt, settings.draftChunk, Math.min(settings.textChunkLimit, messageLimit));
    return wanted.slice(0, blockAt);
  }

  function nextChange(): Change | undefined {
    const text = visible();
    if (text === whole) return undefined;
    whole = undefined;
    if (text.trim().length < leastChars && ids.length === 0) return undefined;
    for (const [index, payload] of messagesOf(text).entries()) {
      if (shown[index]?.text !== payload.text) return { index, payload };
    }
    whole = text;
    return undefined;
  }

  async function apply({ index, payload }: Change): Promise<void> {
    const api = await options.api();
    const existing = ids[index];
    // Until the platform has confirmed it, it is unknown.
    shown[index] = undefined;
    if (existing !== undefined) {
      await api.call("editMessageText", { ...payload, chat_id: address.chat, message_id: Number(existing) } as never, stop.signal);
    } else {
      const sent = await api.call("sendMessage", { ...sendFields(index, options), ...payload } as never, stop.signal);
      const messageId = id(record(sent as never)?.message_id);
      if (messageId === undefined) {
        throw new ChannelError("bad_answer", { fate: "unknown", detail: "sendMessage: the answer names no message" });
      }
      ids.push(messageId);
      options.onMessage([...ids]);
    }
    shown[index] = payload;
  }

  /** What is done about a failed call; the milliseconds until the next, or `undefined` when there may be none. */
  function afterFailure(error: unknown, change: Change): number | undefined {
    // Any error: no caller waits for this call, and a preview must not make a turn fail.
    const { reason, retryAfterMs, fate } =
      error instanceof ChannelError ? error : { reason: "failed", retryAfterMs: undefined, fate: "unknown" as const };
    if (reason === "message_not_modified") {
      shown[change.index] = change.payload;
      return everyMs;
    }
    if (reason === "flood_wait") {
      pace.hold(address.chat, retryAfterMs ?? everyMs);
      return retryAfterMs ?? everyMs;
    }
    log.debug({ reason }, "the live preview could not be updated");
    // An edit may be repeated whatever became of it.
    if (fate === "unknown" && ids[change.index] === undefined) return undefined;
    failures += 1;
    return failures < mostFailures ? everyMs * 2 ** failures : undefined;
  }

  async function call(change: Change, ended: () => void): Promise<void> {
    let delay: number | undefined = everyMs;
    try {
      await apply(change);
      failures = 0;
    } catch (error) {
      delay = afterFailure(error, change);
    }
    ended();
    if (state === "closed") return;
    if (delay === undefined) {
      state = "lost";
      return;
    }
    state = "resting";
    schedule(delay + afterOthersMs);
  }

  function schedule(atLeast: number): void {
    if (state !== "resting") return;
    state = "waiting";
    timer = setTimeout(run, Math.max(atLeast, pace.delay(address.chat)));
  }

  function run(): void {
    if (state === "closed") return;
    state = "resting";
    // First, because it is soon said: where many chats share the bot's limit, most who ask have to ask again.
    const busy = pace.delay(address.chat);
    if (busy > 0) {
      schedule(busy);
      return;
    }
    const change = nextChange();
    if (change === undefined) return;
    state = "calling";
    // From its beginning on: the preview of another topic of this chat asks while it is under way.
    running = call(change, pace.used(address.chat, everyMs, ids[change.index] === undefined ? 1 : 0));
  }

  return {
    update(text) {
      if (state === "closed" || state === "lost") return;
      wanted = text;
      if (state === "collecting") {
        if (text.trim().length < leastChars) return;
        state = "resting";
        schedule(firstAfterMs);
      } else if (state === "resting") schedule(0);
    },
    async close() {
      state = "closed";
      clearTimeout(timer);
      // Waited for: an edit that arrives late would overwrite the answer, and a send's id is needed.
      const grace = setTimeout(() => stop.abort(), closeGraceMs);
      await running.catch(() => {});
      clearTimeout(grace);
      for (const [index, messageId] of ids.entries()) {
        const payload = shown[index];
        if (payload !== undefined) options.shown.keep(address.chat, messageId, payload);
      }
      return [...ids];
    },
  };
}
