/** Faults of sources: what another process, thread or client sent that could not be handled. */

/** What a source did that could not be handled. */
export interface SourceFault {
  /** The source, as an operator would name it: `the process of the transform a.ts`. */
  readonly source: string;
  /** `shape`: its check refused what the source sent. `handler`: handling it failed. */
  readonly kind: "shape" | "handler";
  /** The event that was handled, such as `message`. */
  readonly event: string;
  /** What was wrong, without the content of the message. */
  readonly reason: string;
  /** What the handler threw. */
  readonly error?: unknown;
}

/** Receives each fault of a source. It must not throw; what it throws is written to the standard error. */
export type OnFault = (fault: SourceFault) => void;

/** Sources beyond this number are not logged any more, because a source may choose its name. */
const maxSources = 1_000;
const maxNames = 5;
const longestName = 40;

/** Says what a value is, without its content: `null`, `a number`, `an object with the fields id, json`. */
export function described(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return `a text of ${value.length} characters`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (typeof value !== "object") return `a ${typeof value}`;
  const names = Object.keys(value);
  if (names.length === 0) return "an empty object";
  const shown = names.slice(0, maxNames).map((name) => JSON.stringify(name.slice(0, longestName)).slice(1, -1));
  return `an object with the fields ${shown.join(", ")}${names.length > maxNames ? ", ..." : ""}`;
}

/** A fault as a sentence without a full stop: `the process of a.ts sent null, which is not a valid message`. */
export const faultText = ({ source, kind, event, reason }: SourceFault): string =>
  kind === "shape"
    ? `${source} sent ${reason}, which is not a valid ${event}`
    : `a ${event} of ${source} could not be handled: ${reason}`;

/**
 * Logs the first fault of each source and kind, and then each tenfold of it with the count, so that a flood fills no
 * log.
 */
export function createSourceFaultLog(log: { warn(fields: object, message: string): void }): OnFault {
  const counts = new Map<string, number>();
  return (fault) => {
    const key = `${fault.kind} ${fault.event} ${fault.source}`;
    const known = counts.get(key);
    if (known === undefined && counts.size >= maxSources) return;
    const count = (known ?? 0) + 1;
    counts.set(key, count);
    if (!Number.isInteger(Math.log10(count))) return;
    log.warn({ source: fault.source, fault: fault.kind, count }, faultText(fault));
  };
}

/** For a source without a log: Node prints the warnings to the standard error. */
export const warnOfFaults = (): OnFault =>
  createSourceFaultLog({ warn: (_fields, message) => process.emitWarning(message, { code: "SERVICE_SOURCE_FAULT" }) });

const reasonOf = (error: unknown): string => {
  if (typeof error === "string") return error;
  return error instanceof Error ? error.message : `it threw ${described(error)}`;
};

/** Reports a fault. An error of `fault` itself is written to the standard error, so that it ends nothing. */
export function reportFault(fault: OnFault, what: Omit<SourceFault, "reason" | "error">, error: unknown): void {
  const reason = reasonOf(error);
  try {
    fault({ ...what, reason, ...(what.kind === "handler" && { error }) });
  } catch (failed) {
    process.emitWarning(`${faultText({ ...what, reason })}; reporting that failed: ${reasonOf(failed)}`, {
      code: "SERVICE_SOURCE_FAULT",
    });
  }
}
