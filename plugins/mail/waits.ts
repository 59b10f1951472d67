/** What a mailbox waits for: a ring, a time, other credentials. */
import { setTimeout as sleep } from "node:timers/promises";
import type { MailSource } from "./source.ts";

/** New credentials may come into a file or a variable that the configuration only names. */
const loginAgainMs = 10_000;

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(0, ms), undefined, { signal }).catch(() => {});
}

/** `undefined`: the credentials cannot be read. */
export async function loginOf(source: MailSource): Promise<string | undefined> {
  try {
    return await source.login();
  } catch {
    return undefined;
  }
}

/** Until the credentials are other ones than those that were refused. */
export async function untilOther(refused: string | undefined, source: MailSource, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await loginOf(source)) === refused) await pause(loginAgainMs, signal);
}

export interface Rings {
  ring(): void;
  /** What rang so far needs no look any more. */
  heard(): void;
  /** Resolves after `ms`, and at once when it rings or has rung. */
  wait(ms: number): Promise<void>;
}

/** A ring that comes while mails are read is heard afterwards. */
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
