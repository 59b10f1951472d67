/**
 * The live preview: a message that grows by edits while a turn runs.
 *
 * Its states: `collecting` (too little to show), `resting` (everything is shown), `waiting` (until the next edit is
 * due), `calling` (a call is in progress), `lost` (it is unknown whether a message arrived, so another one could remain
 * forever), `closed`. Only the newest text matters; nothing is queued.
 */
import type { PluginLog } from "service-gateway/sdk";
import { ChannelError, type ChannelPreview } from "service-gateway/sdk/channel";
import type { Pace } from "./limits.ts";
import { type Change, createPreviewMessages, leastChars, type PreviewMessagesOptions } from "./preview-messages.ts";
import type { Reach } from "./reach.ts";

/** A quick reply needs no preview, which would only be a second call. */
const firstAfterMs = 150;
const editEveryMs = 1_000;
/** After a preview was shown, the other topics of the chat go first. */
const afterOthersMs = 100;
/** A group accepts 20 messages a minute, edits included; the reply needs some of them. */
const groupEditEveryMs = 3_000;
/** Consecutive failures. */
const mostFailures = 3;
/** While the platform does not answer, how soon it is looked again whether it does. */
const reachEveryMs = 1_000;
/** A call that hangs is given up after this time, because the reply waits for it. */
const closeGraceMs = 5_000;

type State = "collecting" | "resting" | "waiting" | "calling" | "lost" | "closed";

export interface PreviewOptions extends PreviewMessagesOptions {
  readonly pace: Pace;
  readonly reach: Reach;
  readonly log: PluginLog;
  /** It is unknown whether a message of the preview was sent, so it may remain beside the reply. */
  onUncertain(): void;
}

export function createPreview(options: PreviewOptions): ChannelPreview {
  const { address, pace, reach, log } = options;
  const messages = createPreviewMessages(options);
  const stop = new AbortController();
  const everyMs = address.chat.startsWith("-") ? groupEditEveryMs : editEveryMs;
  let state: State = "collecting";
  let wanted = "";
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  /** Handles a failed call: returns the milliseconds until the next one, or `undefined` if there may be none. */
  function afterFailure(error: unknown, change: Change): number | undefined {
    // Handles any error: no caller waits for this call, and a preview must not make a turn fail.
    const { reason, retryAfterMs, fate } =
      error instanceof ChannelError ? error : { reason: "failed", retryAfterMs: undefined, fate: "unknown" as const };
    if (reason === "message_not_modified" || (reason === "message_gone" && change.payload === null)) {
      messages.confirm(change);
      return everyMs;
    }
    if (reason === "flood_wait") {
      pace.hold(address.chat, retryAfterMs ?? everyMs);
      return retryAfterMs ?? everyMs;
    }
    log.debug({ reason }, "the live preview could not be updated");
    // An edit may be repeated whatever its outcome.
    if (fate === "unknown" && messages.sends(change)) {
      reach.lost();
      options.onUncertain();
      return undefined;
    }
    failures += 1;
    return failures < mostFailures ? everyMs * 2 ** failures : undefined;
  }

  async function call(change: Change, ended: () => void): Promise<void> {
    let delay: number | undefined = everyMs;
    try {
      await messages.apply(change, stop.signal);
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
    // Checked first because it is cheap: if many chats share the bot's limit, most have to ask again.
    const busy = pace.delay(address.chat);
    if (busy > 0) {
      schedule(busy);
      return;
    }
    const change = messages.next(wanted);
    if (change === undefined) return;
    if (messages.sends(change) && reach.isLost()) {
      schedule(reachEveryMs);
      return;
    }
    state = "calling";
    // Counted from its beginning: the preview of another topic in this chat may ask while it is in progress.
    running = call(change, pace.used(address.chat, everyMs, messages.sends(change) ? 1 : 0));
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
      // Awaited: an edit that arrives late would overwrite the reply, and the id of a send is needed.
      const grace = setTimeout(() => stop.abort(), closeGraceMs);
      await running.catch(() => {});
      await messages.clear(wanted, stop.signal).catch(() => {});
      clearTimeout(grace);
      return messages.keep();
    },
  };
}
