/**
 * The live preview: a message that grows by edits while a turn runs.
 *
 * Its states: `collecting` (too little to show), `resting` (everything is shown), `waiting` (until the next edit is
 * due), `calling` (a call is in progress), `lost` (it is unknown whether a message arrived, so another one could remain
 * forever), `closed`. Only the newest text matters; nothing is queued.
 */
import { ChannelError } from "../../contract/index.ts";
import type { ChannelPreview, PluginLog } from "../contract.ts";
import { type Change, createPreviewMessages, leastChars, type PreviewCalls } from "./messages.ts";

/** A quick reply needs no preview, which would only be a second call. */
const firstAfterMs = 150;
const usualEveryMs = 1_000;
/** After a preview was shown, the other topics of the chat go first. */
const afterOthersMs = 100;
/** Consecutive failures. */
const mostFailures = 3;
/** While the platform does not answer, how soon it is looked again whether it does. */
const reachEveryMs = 1_000;
/** A call that hangs is given up after this time, because the reply waits for it. */
const closeGraceMs = 5_000;

type State = "collecting" | "resting" | "waiting" | "calling" | "lost" | "closed";

/**
 * When the calls of a preview are made. Without `delay` and the rest, the preview keeps its own pace only; with them,
 * it shares the limits of the account with everything else that is sent.
 *
 * @example
 * const pace: PreviewPace = { everyMs: 1_000, delay: () => limits.delay(chat), hold: (ms) => limits.hold(chat, ms) };
 */
export interface PreviewPace {
  /** Milliseconds from the end of a call to the next one. Default: 1,000. */
  readonly everyMs?: number;
  /** Milliseconds until an unimportant call may be made; 0: now. */
  delay?(): number;
  /** The platform demanded a wait. */
  hold?(ms: number): void;
  /** A call begins; the returned function is called at its end. `posts`: it sends a message. */
  used?(everyMs: number, about: { readonly posts: boolean }): () => void;
  /**
   * Whether the platform answers at the moment. After a send of unknown fate, no further preview should begin until it
   * does: its message might remain beside the reply.
   */
  answers?(): boolean;
}

/**
 * A preview by editing messages, for `preview` of a channel. It begins after the first 30 characters, makes one call at
 * a time, and shows only the newest text. It takes up the messages of `resume`, waits as long as `flood_wait` asks, and
 * gives up after three failures in a row, or when the fate of a send is unknown; then it calls `onUncertain`. A text
 * that starts over removes all messages but the first. `close` waits at most 5 s for the call in progress, because an
 * edit that arrives late would overwrite the reply. `onClose` receives what the messages show, for a channel that saves
 * the edit of a reply that is shown already.
 *
 * @example
 * preview: ({ chat }, how) =>
 *   editingPreview(callsFor(chat), { ...how, pace: { everyMs: 1_000 }, log: account.log }),
 */
export function editingPreview<M>(
  calls: PreviewCalls<M>,
  options: {
    readonly resume: readonly string[];
    /** As `preview` of the channel receives it. */
    readonly key?: string;
    onMessage(messageIds: readonly string[]): void;
    onUncertain?(): void;
    readonly pace?: PreviewPace;
    readonly log?: Pick<PluginLog, "debug">;
    onClose?(shown: readonly { readonly messageId: string; readonly message: M | undefined }[]): void;
  },
): ChannelPreview {
  const { pace = {}, log, onUncertain = () => {}, onClose = () => {} } = options;
  const { everyMs = usualEveryMs } = pace;
  const delay = () => pace.delay?.() ?? 0;
  const messages = createPreviewMessages(calls, options);
  const stop = new AbortController();
  let state: State = "collecting";
  let wanted = "";
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  /** Handles a failed call: returns the milliseconds until the next one, or `undefined` if there may be none. */
  function afterFailure(error: unknown, change: Change<M>): number | undefined {
    // Handles any error: no caller waits for this call, and a preview must not make a turn fail.
    const { reason, retryAfterMs, fate } =
      error instanceof ChannelError ? error : { reason: "failed", retryAfterMs: undefined, fate: "unknown" as const };
    if (reason === "message_not_modified" || (reason === "message_gone" && change.message === null)) {
      messages.confirm(change);
      return everyMs;
    }
    if (reason === "flood_wait") {
      pace.hold?.(retryAfterMs ?? everyMs);
      return retryAfterMs ?? everyMs;
    }
    log?.debug({ reason }, "the live preview could not be updated");
    // An edit may be repeated whatever its outcome.
    if (fate === "unknown" && messages.sends(change)) {
      onUncertain();
      return undefined;
    }
    failures += 1;
    return failures < mostFailures ? everyMs * 2 ** failures : undefined;
  }

  async function call(change: Change<M>, ended: () => void): Promise<void> {
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
    callAfter(delay + afterOthersMs);
  }

  function callAfter(atLeast: number): void {
    if (state !== "resting") return;
    state = "waiting";
    timer = setTimeout(run, Math.max(atLeast, delay()));
  }

  function run(): void {
    if (state === "closed") return;
    state = "resting";
    // Checked first because it is cheap: if many chats share the bot's limit, most have to ask again.
    const busy = delay();
    if (busy > 0) {
      callAfter(busy);
      return;
    }
    const change = messages.next(wanted);
    if (change === undefined) return;
    if (messages.sends(change) && pace.answers?.() === false) {
      callAfter(reachEveryMs);
      return;
    }
    state = "calling";
    // Counted from its beginning: the preview of another topic in this chat may ask while it is in progress.
    running = call(change, pace.used?.(everyMs, { posts: messages.sends(change) }) ?? (() => {}));
  }

  return {
    update(text) {
      if (state === "closed" || state === "lost") return;
      wanted = text;
      if (state === "collecting") {
        if (text.trim().length < leastChars) return;
        state = "resting";
        callAfter(firstAfterMs);
      } else if (state === "resting") callAfter(0);
    },
    async close() {
      state = "closed";
      clearTimeout(timer);
      // Awaited: an edit that arrives late would overwrite the reply, and the id of a send is needed.
      const grace = setTimeout(() => stop.abort(), closeGraceMs);
      await running.catch(() => {});
      await messages.clear(wanted, stop.signal).catch(() => {});
      clearTimeout(grace);
      const shown = messages.shown();
      onClose(shown);
      return shown.map(({ messageId }) => messageId);
    },
  };
}
