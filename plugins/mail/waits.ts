/** Waits of a mailbox: for a notification, a time, or other credentials. */
import { setTimeout as sleep } from "node:timers/promises";
import type { MailSource } from "./source.ts";

/** New credentials may appear in a file or a variable that the configuration only names. */
const loginAgainMs = 10_000;

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(0, ms), undefined, { signal }).catch(() => {});
}

/** `undefined` if the credentials cannot be read. */
export async function loginOf(source: MailSource): Promise<string | undefined> {
  try {
    return await source.login();
  } catch {
    return undefined;
  }
}

/** Waits until the credentials differ from those that were refused. */
export async function untilOther(refused: string | undefined, source: MailSource, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await loginOf(source)) === refused) await pause(loginAgainMs, signal);
}

export interface Rings {
  ring(): void;
  /** Notifications up to now need no further look. */
  heard(): void;
  /** Resolves after `ms`, or at once when a notification arrives or has arrived. */
  wait(ms: number): Promise<void>;
}

/** A notification that arrives while mails are read takes effect afterwards. */
export function createRings(signal: AbortSignal): Rings {
  let rung = false;
  let wake = (): void => {};
  signal.addEventListener("abort", () => wake());
  return {
    ring() {
      rung = true;
      wake();
    },
    heard() {
      rung = false;
    },
    wait: (ms) =>
      new Promise((resolve) => {
        if (rung || signal.aborted) return resolve();
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
  };
}
