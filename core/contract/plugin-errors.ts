/**
 * Errors that plugins throw: channels for their platforms, engines for their models. `codes.ts` explains their codes.
 */
import { findCode, hintOfCode } from "./codes.ts";

/**
 * An error of a platform. A channel throws it from `send` and its other calls.
 *
 * @example
 * throw new ChannelError("flood_wait", { retryable: true, retryAfterMs: 3_000, fate: "not-sent" });
 */
export class ChannelError extends Error {
  /** Recognizes errors of another copy of this package in the same process. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "ChannelError" && "reason" in value;
  }

  override readonly name = "ChannelError";
  /**
   * Stable reason code, such as `flood_wait` or `network`. After `blocked_by_user`, `chat_not_found`, `thread_gone` and
   * `unauthorized` the rest of the reply is not tried and the sender gets no apology, because they could not be
   * delivered either.
   */
  readonly reason: string;
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
  /**
   * Milliseconds to wait before a retry, if the platform specified them. At most a day; a value that is not a positive
   * number, such as a header that could not be read, counts as not specified.
   */
  readonly retryAfterMs: number | undefined;
  /** `not-sent` (default): the call certainly had no effect. `unknown`: it may have had one. */
  readonly fate: "not-sent" | "unknown";
  /** The chat's new id, if the platform refused the call because the id changed. The message is then sent there. */
  readonly migratedTo: string | undefined;
  /**
   * What the operator can do about it, as a sentence. `service why`, the log and the results of actions show it.
   * Default: the hint in the registry of codes for `reason`.
   */
  readonly hint: string | undefined;

  constructor(
    reason: string,
    options: {
      readonly retryable?: boolean;
      readonly migratedTo?: string;
      readonly retryAfterMs?: number;
      readonly fate?: "not-sent" | "unknown";
      /**
       * The message, as a sentence. Default: the meaning of the gateway's own code `reason`; for a code of the channel,
       * write one.
       */
      readonly detail?: string;
      readonly hint?: string;
      readonly cause?: unknown;
    } = {},
  ) {
    const code = findCode(reason);
    super(
      options.detail ?? code?.meaning ?? reason,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.reason = reason;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = usableWait(options.retryAfterMs);
    this.fate = options.fate ?? "not-sent";
    this.migratedTo = options.migratedTo;
    this.hint = options.hint ?? hintOfCode(code, { retrying: this.retryable });
  }
}

/**
 * A send is retried for a day, so no wait is longer. A timer that gets an unusable number ends at once, and the retries
 * would flood the platform.
 */
const longestWaitMs = 86_400_000;

function usableWait(ms: number | undefined): number | undefined {
  return ms !== undefined && Number.isFinite(ms) && ms > 0 ? Math.min(ms, longestWaitMs) : undefined;
}

/** The code and the hint of an error, where it has them, for the status of an account. */
export function codeOf(error: unknown): { readonly code?: string; readonly hint?: string } {
  if (!(error instanceof ChannelError)) return {};
  return { code: error.reason, hint: error.hint };
}

/**
 * An error of a model. An engine throws it from `run`; the message is one sentence without secrets.
 *
 * @example
 * throw new EngineError("model_unreachable", {
 *   detail: "Nothing answers at http://127.0.0.1:11434/v1",
 *   hint: "Start the model server.",
 * });
 */
export class EngineError extends Error {
  /** Recognizes errors of another copy of this package in the same process. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "EngineError" && "reason" in value;
  }

  override readonly name = "EngineError";
  /**
   * Stable reason code, such as `model_unreachable`, `model_unauthorized`, `model_unknown`, `model_busy`,
   * `model_stalled`.
   */
  readonly reason: string;
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
  /** What to do about it. Default: the hint in the registry of codes for `reason`. */
  readonly hint: string;
  /**
   * What the apology to a person inserts. Only `message_too_long` has such: `message`, the tokens of the message, and
   * `room`, those that it may have.
   */
  readonly numbers: Readonly<Record<string, number>>;

  constructor(
    reason: string,
    options: {
      readonly detail?: string;
      readonly hint?: string;
      readonly retryable?: boolean;
      readonly numbers?: Readonly<Record<string, number>>;
      readonly cause?: unknown;
    } = {},
  ) {
    const code = findCode(reason);
    super(
      options.detail ?? code?.meaning ?? reason,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.reason = reason;
    this.retryable = options.retryable ?? false;
    this.numbers = options.numbers ?? {};
    this.hint = options.hint ?? (code?.hint || "Read the log lines of this turn.");
  }
}
