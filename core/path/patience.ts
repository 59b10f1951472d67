/** Waits that end when the gateway closes: for a store that cannot be written, or for a platform to return. */
import { sleep } from "../channels/index.ts";
import { ChannelError, cannotStore, PluginError } from "../contract/index.ts";

const recordAgainMs = 1_000;

/**
 * Nothing is wrong with the event; something it needs is not available yet. Its unit is handed back and waits, and the attempt does not
 * count.
 */
export class Postponed extends Error {
  readonly code: string;
  /** Configuration path of what is missing. */
  readonly path: string;

  constructor(code: string, { detail, path }: { readonly detail: string; readonly path: string }) {
    super(detail);
    this.code = code;
    this.path = path;
  }
}

/** The postponement behind an error, whether it was thrown here or in a tap. */
export function postponementOf(error: unknown): { readonly code: string; readonly detail: string; readonly path?: string } | undefined {
  const cause = error instanceof PluginError ? error.cause : error;
  if (cause instanceof Postponed) return { code: cause.code, detail: cause.message, path: cause.path };
  if (cause instanceof ChannelError && cause.retryable && cause.fate === "not-sent") return { code: cause.reason, detail: cause.message };
  return undefined;
}

/**
 * Only this process knows what the platform accepted until it is written. While nothing can be stored the write waits, so that nothing is
 * sent twice.
 */
export function persist<Result>(write: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  return write().catch((error: unknown) => persistAfter(error, write, signal));
}

async function persistAfter<Result>(error: unknown, write: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  for (let failed = error; ; ) {
    if (!cannotStore(failed) || !(await sleep(recordAgainMs, signal))) throw failed;
    try {
      return await write();
    } catch (again) {
      failed = again;
    }
  }
}
