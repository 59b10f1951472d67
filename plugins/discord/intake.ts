/**
 * Events on their way to the gateway's store, in the order in which the platform sent them. The sequence number is
 * stored when the event and all before it are.
 */
import { ChannelError } from "service-gateway/sdk/channel";
import type { Events } from "./events.ts";
import type { Dispatch } from "./gateway.ts";
import type { Progress } from "./progress.ts";

export interface Intake {
  take(dispatch: Dispatch): void;
  /** Resolves when all events are stored, or one of them is not. */
  settled(): Promise<void>;
}

/** `onFailure`: an event could not be stored, or looked up. The connection has to begin again, and so do its events. */
export function createIntake({
  progress,
  events,
  onFailure,
}: {
  readonly progress: Progress;
  readonly events: Events;
  readonly onFailure: (error: Error) => void;
}): Intake {
  let handed: Promise<unknown> = Promise.resolve();
  let stored: Promise<unknown> = Promise.resolve();
  let hasFailed = false;

  function fail(error: unknown): void {
    if (hasFailed) return;
    hasFailed = true;
    // What the platform refuses now may be allowed later: the event comes again.
    const { message: words } = error instanceof Error ? error : new Error(String(error));
    const retryAfterMs = error instanceof ChannelError ? error.retryAfterMs : undefined;
    onFailure(new ChannelError("attempt_failed", { retryable: true, retryAfterMs, detail: words, cause: error }));
  }

  return {
    take(dispatch) {
      if (hasFailed) return;
      const { type, sequence } = dispatch;
      // Stored before anything that follows, so that the session goes on even if the process ends now.
      if (type === "READY") events.begin(dispatch);
      const session = progress.state().session?.id;
      events.answer(dispatch);
      const next = handed.then(() => events.hand(dispatch));
      handed = next;
      stored = Promise.all([stored, next]).then(async ([, { stored: storing, message: key }]) => {
        await storing;
        progress.stored({ session, sequence, message: key });
      });
      handed.catch(fail);
      stored.catch(fail);
    },
    settled: () =>
      stored.then(
        () => {},
        () => {},
      ),
  };
}
