/**
 * The gateway's own errors; their texts are in `error-table.ts`. Errors of platforms and models are in
 * `plugin-errors.ts`.
 */
import { programCommand } from "./command.ts";
import { errorTable } from "./error-table.ts";

/** A code of the gateway's own errors; `core/ERRORS.md` lists them with their texts and details. */
export type ErrorCode = keyof typeof errorTable;

type Details = Readonly<Record<string, string | number>>;

function fill(template: string, details: Details): string {
  const known: Details = { command: programCommand, ...details };
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => String(known[name] ?? whole));
}

/** An error of the gateway: configuration, state, start or stop. `message` is one sentence; `hint` says what to do. */
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

/** An error caused by a plugin. It names the plugin and, if it occurred at a station, the hook. */
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

/** What the most frequent errors of files mean for the person who named the file. */
const fileReasons: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `${path} does not exist`,
  EACCES: (path) => `this user has no permission for ${path}`,
  EPERM: (path) => `this user has no permission for ${path}`,
  EROFS: (path) => `${path} is on a file system that is read-only`,
  ENOTDIR: (path) => `a part of the path ${path} is a file, where a directory is needed`,
  EISDIR: (path) => `${path} is a directory`,
};

function fileReason(error: Error): string | undefined {
  const { code = "", path, dest } = error as NodeJS.ErrnoException & { readonly dest?: string };
  return typeof path === "string" && dest === undefined ? fileReasons[code]?.(path) : undefined;
}

/** The message of any thrown value, on one line. */
export function reasonOf(thrown: unknown): string {
  const text = thrown instanceof Error ? (fileReason(thrown) ?? thrown.message) : String(thrown);
  return text.replace(/\s+/g, " ").trim().replace(/\.$/, "") || "unknown error";
}

/** The text with one mark at its end, so that another sentence may follow. */
export function asSentence(text: string): string {
  let end = text.length;
  // A server may send thousands of dots, of which an expression would try each as the beginning of the end.
  while (end > 0 && /[.\s]/.test(text.charAt(end - 1))) end -= 1;
  const bare = text.slice(0, end);
  return /[!?…]$/.test(bare) ? bare : `${bare}.`;
}

/** What made the tap of a plugin fail; any other error as it is. */
const behind = (error: unknown): unknown =>
  error instanceof PluginError && error.cause !== undefined ? error.cause : error;

/**
 * Whether nothing can be stored now: the disk is full, or the database is away. The data to be written was not at
 * fault.
 */
export function cannotStore(error: unknown): error is HostError {
  const cause = behind(error);
  return cause instanceof HostError && (cause.code === "state_full" || cause.code === "database_away");
}

/** Whether a write was refused because this node lost the lease under which it runs the unit. */
export function isLeaseLost(error: unknown): error is HostError {
  const cause = behind(error);
  return cause instanceof HostError && cause.code === "lease_lost";
}

/**
 * Whether the state is at fault, and neither the event nor what handles it: the event can be handled later, or
 * elsewhere.
 */
export const isOfState = (error: unknown): boolean => cannotStore(error) || isLeaseLost(error);
