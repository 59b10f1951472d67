/**
 * The live preview: a message that grows by edits while a turn runs.
 *
 * Its states: `collecting` (too little to show), `resting` (what is shown is all there is), `waiting` (until the next
 * edit is due), `calling` (one call is under way), `lost` (it is unknown whether a message arrived: another one might stay beside it for
 * ever), `closed`. Only the newest text counts; nothing is queued.
 */
import type { PluginLog } from "service-gateway/sdk";
import { ChannelError, type ChannelPreview } from "service-gateway/sdk/channel";
import type { Pace } from "./limits.ts";
import { type Change, createPreviewMessages, leastChars, type PreviewMessagesOptions } from "./preview-messages.ts";

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

export interface PreviewOptions extends PreviewMessagesOptions {
  readonly pace: Pace;
  readonly log: PluginLog;
}

export function createPreview(options: PreviewOptions): ChannelPreview {
  const { address, pace, log } = options;
  const messages = createPreviewMessages(options);
  const stop = new AbortController();
  const everyMs = address.chat.startsWith("-") ? groupEditEveryMs : editEveryMs;
  let state: State = "collecting";
  let wanted = "";
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  /** What is done about a failed call; the milliseconds until the next, or `undefined` when there may be none. */
  function afterFailure(error: unknown, change: Change): number | undefined {
    // Any error: no caller waits for this call, and a preview must not make a turn fail.
    const { reason, retryAfterMs, fate } =
      error instanceof ChannelError ? error : { reason: "failed", retryAfterMs: undefined, fate: "unknown" as const };
    if (reason === "message_not_modified") {
      messages.confirm(change);
      return everyMs;
    }
    if (reason === "flood_wait") {
      pace.hold(address.chat, retryAfterMs ?? everyMs);
      return retryAfterMs ?? everyMs;
    }
    log.debug({ reason }, "the live preview could not be updated");
    // An edit may be repeated whatever became of it.
    if (fate === "unknown" && messages.sends(change)) return undefined;
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
    // First, because it is soon said: where many chats share the bot's limit, most who ask have to ask again.
    const busy = pace.delay(address.chat);
    if (busy > 0) {
      schedule(busy);
      return;
    }
    const change = messages.next(wanted);
    if (change === undefined) return;
    state = "calling";
    // From its beginning on: the preview of another topic of this chat asks while it is under way.
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
      // Waited for: an edit that arrives late would overwrite the answer, and a send's id is needed.
      const grace = setTimeout(() => stop.abort(), closeGraceMs);
      await running.catch(() => {});
      clearTimeout(grace);
      return messages.keep();
    },
  };
}
