/** Waits that end when the gateway closes: for a store that cannot be written, or for a platform to return. */
import { type AwayAccount, sleep } from "../channels/index.ts";
import { ChannelError, cannotStore, PluginError } from "../contract/index.ts";

const recordAgainMs = 1_000;

/** When a unit that waits is worth another look. */
export interface Wait {
  /**
   * Asked when `ms` have passed, and whenever something may have returned. False: the unit goes on waiting, and the
   * store is not asked.
   */
  mayGo(): boolean;
  /** Milliseconds until it is asked again. */
  ms(): number;
}

/** A unit that was handed back and waits. */
export interface Hold {
  readonly wait: Wait;
  /** Until when it waits according to the store. */
  readonly due: number;
}

interface PostponedOptions {
  readonly detail: string;
  /** Configuration path of what is missing. */
  readonly path?: string | undefined;
  readonly hint?: string | undefined;
  /** Absent: the unit looks again every few seconds. */
  readonly wait?: Wait;
  /** Set on every look but the first: the trace and the log mention the wait once. */
  readonly known?: boolean;
}

/**
 * Nothing is wrong with the event; something it needs is not available yet. Its unit is handed back and waits, and the
 * attempt does not count.
 */
export class Postponed extends Error {
  readonly code: string;
  readonly options: PostponedOptions;

  constructor(code: string, options: PostponedOptions) {
    super(options.detail);
    this.code = code;
    this.options = options;
  }
}

/**
 * How often what waits for an account asks whether it is back, in case that was missed. The store is not asked for
 * that.
 */
const accountCheckMs = 10 * 60_000;

/**
 * Throws `Postponed` as long as an account is away. `away` is asked again later, so it must not hold on to an event.
 */
export function waitFor(away: () => AwayAccount | undefined): void {
  const missing = away();
  if (missing === undefined) return;
  const { code, ...why } = missing;
  throw new Postponed(code, { ...why, wait: { mayGo: () => away() === undefined, ms: () => accountCheckMs } });
}

/** The postponement behind an error, whether it was thrown here or in a tap. */
export function postponementOf(error: unknown): (PostponedOptions & { readonly code: string }) | undefined {
  const cause = error instanceof PluginError ? error.cause : error;
  if (cause instanceof Postponed) return { ...cause.options, code: cause.code };
  if (cause instanceof ChannelError && cause.retryable && cause.fate === "not-sent")
    return { code: cause.reason, detail: cause.message };
  return undefined;
}

/**
 * Only this process knows what the platform accepted until it is written. While nothing can be stored the write waits,
 * so that nothing is sent twice.
 */
export function persist<Result>(write: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  return write().catch((error: unknown) => persistAfter(error, write, signal));
}

async function persistAfter<Result>(
  error: unknown,
  write: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  for (let failed = error; ; ) {
    if (!cannotStore(failed) || !(await sleep(recordAgainMs, signal))) throw failed;
    try {
      return await write();
    } catch (again) {
      failed = again;
    }
  }
}
