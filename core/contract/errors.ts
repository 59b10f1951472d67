/** Errors, in three classes by whose fault it is. Their texts stand in `error-table.ts`. */
import { programCommand } from "./command.ts";
import { errorTable } from "./error-table.ts";

export type ErrorCode = keyof typeof errorTable;

type Details = Readonly<Record<string, string | number>>;

function fill(template: string, details: Details): string {
  const known: Details = { command: programCommand, ...details };
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => String(known[name] ?? whole));
}

/** Ours: configuration, state, start, stop. `message` is one sentence, `hint` says what to do. */
export class HostError extends Error {
  override readonly name: string = "HostError";
  readonly code: ErrorCode;
  readonly hint: string;
  readonly details: Details;

  constructor(code: ErrorCode, details: Details = {}, options?: { readonly cause?: unknown }) {
    super(fill(errorTable[code].text, details), options);
    this.code = code;
    this.hint = fill(errorTable[code].hint, details);
    this.details = details;
  }
}

/** A plugin's: it names the plugin and, when it was at a station, the hook. */
export class PluginError extends HostError {
  override readonly name = "PluginError";
  readonly plugin: string;
  readonly hook: string | undefined;

  constructor(
    code: ErrorCode,
    details: Details & { readonly plugin: string; readonly hook?: string },
    options?: { readonly cause?: unknown },
  ) {
    super(code, details, options);
    this.plugin = details.plugin;
    this.hook = details.hook;
  }
}

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
  /** What the operator can do about it, as a sentence; told by `{command} why`, in the log and to whoever waits for the send. */
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
    super(options.detail ?? reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.fate = options.fate ?? "not-sent";
    this.migratedTo = options.migratedTo;
    this.hint = options.hint;
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
  /** What to do about it. */
  readonly hint: string;

  constructor(
    reason: string,
    options: { readonly detail?: string; readonly hint?: string; readonly retryable?: boolean; readonly cause?: unknown } = {},
  ) {
    super(options.detail ?? reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.retryable = options.retryable ?? false;
    this.hint = options.hint ?? "Look at the log lines of this turn.";
  }
}

/** The message of whatever was thrown, as one line. */
export function reasonOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replace(/\s+/g, " ").trim().replace(/\.$/, "") || "unknown error";
}

/** No room on the disk: nothing is wrong with what was to be written. */
export function isFull(error: unknown): error is HostError {
  return error instanceof HostError && error.code === "state_full";
}
