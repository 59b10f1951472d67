/** Waiting that ends with the gateway: for room on the disk, for a platform that comes back. */
import { sleep } from "../channels/index.ts";
import { ChannelError, isFull, PluginError } from "../contract/index.ts";

const recordAgainMs = 1_000;

/** Nothing is wrong with the event: what it needs is not there yet. Its unit goes back and waits, and no attempt is counted. */
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

/** What the platform took is known here only until it is written: on a full disk that waits for room, and is not sent twice. */
export function persist<Result>(write: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  return write().catch((error: unknown) => persistAfter(error, write, signal));
}

async function persistAfter<Result>(error: unknown, write: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  for (let failed = error; ; ) {
    if (!isFull(failed) || !(await sleep(recordAgainMs, signal))) throw failed;
    try {
      return await write();
    } catch (again) {
      failed = again;
    }
  }
}
