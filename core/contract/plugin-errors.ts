/** Errors that plugins throw: a channel for its platform, an engine for its model. What their codes mean is in `codes.ts`. */
import { findCode } from "./codes.ts";

/**
 * The platform's. A channel throws it from `send` and the other calls.
 *
 * @example
 * throw new ChannelError("flood_wait", { retryable: true, retryAfterMs: 3_000, fate: "not-sent" });
 */
export class ChannelError extends Error {
  /** Two copies of this package in one process agree on what either of them threw. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "ChannelError" && "reason" in value;
  }

  override readonly name = "ChannelError";
  /**
   * Stable reason code, such as `flood_wait` or `network`. After `blocked_by_user`, `chat_not_found`, `thread_gone` and `unauthorized` the
   * sender gets no apology, because it could not arrive either.
   */
  readonly reason: string;
  /** True when the same call may succeed later. */
  readonly retryable: boolean;
  /** Milliseconds to wait before a retry, when the platform said so. */
  readonly retryAfterMs: number | undefined;
  /** `not-sent`: it surely did not happen. `unknown`: it may have. */
  readonly fate: "not-sent" | "unknown";
  /** The id under which the platform leads the chat from now on, when that is why it was refused; it is sent there then. */
  readonly migratedTo: string | undefined;
  /**
   * What the operator can do about it, as a sentence: shown by `{command} why`, in the log and to the caller of an action. By default
   * what the registry of codes says of `reason`.
   */
  readonly hint: string | undefined;

  constructor(
    reason: string,
    options: {
      readonly retryable?: boolean;
      readonly migratedTo?: string;
      readonly retryAfterMs?: number;
      readonly fate?: "not-sent" | "unknown";
      readonly detail?: string;
      readonly hint?: string;
      readonly cause?: unknown;
    } = {},
  ) {
    const code = findCode(reason);
    super(options.detail ?? code?.meaning ?? reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.fate = options.fate ?? "not-sent";
    this.migratedTo = options.migratedTo;
    this.hint = options.hint ?? (code?.hint || undefined);
  }
}

/**
 * The model's. An engine throws it from `run`; the message is one sentence without secrets.
 *
 * @example
 * throw new EngineError("model_unreachable", { detail: "Nothing answers at http://127.0.0.1:11434/v1", hint: "Start the model server." });
 */
export class EngineError extends Error {
  /** Two copies of this package in one process agree on what either of them threw. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "EngineError" && "reason" in value;
  }

  override readonly name = "EngineError";
  /** Stable reason code, such as `model_unreachable`, `model_unauthorized`, `model_unknown`, `model_busy`, `model_stalled`. */
  readonly reason: string;
  /** True when the same call may succeed later. */
  readonly retryable: boolean;
  /** What to do about it; by default what the registry of codes says of `reason`. */
  readonly hint: string;

  constructor(
    reason: string,
    options: { readonly detail?: string; readonly hint?: string; readonly retryable?: boolean; readonly cause?: unknown } = {},
  ) {
    const code = findCode(reason);
    super(options.detail ?? code?.meaning ?? reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.retryable = options.retryable ?? false;
    this.hint = options.hint ?? (code?.hint || "Read the log lines of this turn.");
  }
}
