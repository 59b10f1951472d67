/**
 * The time limits of one download: for the whole, for each step and for the speed of the body. A download that is too
 * slow is aborted with a reason.
 */
import { ChannelError } from "../contract/index.ts";

export interface PaceLimits {
  readonly totalMs: number;
  readonly quietMs: number;
  readonly leastBytesPerSecond: number;
}

interface Destroyable {
  destroy(): unknown;
}

export interface Pace {
  /**
   * Runs a step on a connection and destroys the connection if the step takes too long. `try`: other addresses remain,
   * so this one gets a quarter of the time.
   */
  run<T>(on: Destroyable, patience: "try" | "last", step: () => Promise<T>): Promise<T>;
  /** Waits for a step that cannot be aborted. After the time limit, it no longer waits. */
  wait<T>(step: Promise<T>): Promise<T>;
  /** Starts checking the speed of the body. */
  watch(on: Destroyable): void;
  add(bytes: number): void;
  /** Why the download was aborted; `undefined` if it was not. */
  reason(): ChannelError | undefined;
  isOver(): boolean;
  end(): void;
}

function late(detail: string): ChannelError {
  return new ChannelError("media_unreachable", { detail });
}

const seconds = (ms: number) => `${Math.ceil(ms / 1_000)} s`;

export function createPace(limits: PaceLimits, signal: AbortSignal): Pace {
  const { totalMs, quietMs, leastBytesPerSecond } = limits;
  let current: Destroyable | undefined;
  let over: ChannelError | undefined;
  let arrived = 0;
  let watching: NodeJS.Timeout | undefined;
  let stopWaiting = (_error: ChannelError) => {};

  function stop(error: ChannelError): void {
    over ??= error;
    current?.destroy();
    stopWaiting(over);
  }

  const whole = setTimeout(() => stop(late(`it did not arrive within ${seconds(totalMs)}`)), totalMs);
  const onAbort = () => stop(new ChannelError("aborted", { detail: "the fetch was stopped" }));
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });

  async function wait<T>(step: Promise<T>): Promise<T> {
    if (over !== undefined) {
      step.catch(() => {});
      throw over;
    }
    const cut = new Promise<never>((_resolve, reject) => (stopWaiting = reject));
    return await Promise.race([step, cut]);
  }

  return {
    async run(on, patience, step) {
      current = on;
      let quiet: ChannelError | undefined;
      const timer = setTimeout(
        () => {
          quiet = late(`the server sent nothing for ${seconds(quietMs)}`);
          on.destroy();
          stopWaiting(quiet);
        },
        patience === "try" ? quietMs / 4 : quietMs,
      );
      try {
        return await wait(step());
      } catch (error) {
        throw over ?? quiet ?? error;
      } finally {
        clearTimeout(timer);
      }
    },
    wait,
    watch(on) {
      current = on;
      let before = arrived;
      watching = setInterval(() => {
        const came = arrived - before;
        before = arrived;
        if (came < (leastBytesPerSecond * quietMs) / 1_000) stop(late("the server sends too slowly"));
      }, quietMs);
    },
    add(bytes) {
      arrived += bytes;
    },
    reason: () => over,
    isOver: () => over !== undefined,
    end() {
      clearTimeout(whole);
      clearInterval(watching);
      signal.removeEventListener("abort", onAbort);
    },
  };
}
