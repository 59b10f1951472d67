/** Checks what a thread or a process of transforms sends to the gateway. */
import type { TransformFault } from "./error.ts";
import type { Level } from "./printer.ts";
import type { Ended, Report } from "./protocol.ts";

const faults: ReadonlySet<unknown> = new Set<TransformFault>([
  "timeout",
  "memory",
  "exit",
  "threw",
  "refused",
  "result",
]);
const levels: ReadonlySet<unknown> = new Set<Level>(["debug", "info", "warn", "error"]);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
const isTextOrAbsent = (value: unknown): boolean => value === undefined || typeof value === "string";

/** The end of a call, or the answer to a ping, which has a number only; `undefined` if it is something else. */
export function asEnded(value: unknown): Ended | undefined {
  if (!isObject(value) || !Number.isSafeInteger(value.id) || !isTextOrAbsent(value.json)) return undefined;
  const { error } = value;
  if (error !== undefined) {
    if (
      !isObject(error) ||
      !faults.has(error.kind) ||
      typeof error.message !== "string" ||
      !isTextOrAbsent(error.where)
    )
      return undefined;
  }
  return value as unknown as Ended;
}

/** What a thread of the pool reports; `undefined` if it is something else. */
export function asReport(value: unknown): Report | undefined {
  if (!isObject(value)) return undefined;
  if ("line" in value) {
    const isLine = typeof value.module === "string" && levels.has(value.level) && typeof value.line === "string";
    return isLine ? (value as unknown as Report) : undefined;
  }
  if ("requests" in value) return Number.isSafeInteger(value.requests) ? (value as unknown as Report) : undefined;
  const { ended, back = [], computing, free } = value;
  if (!Array.isArray(ended) || !Array.isArray(back) || !isTextOrAbsent(computing) || typeof free !== "boolean")
    return undefined;
  const isWhole = ended.every((one) => asEnded(one) !== undefined) && back.every(Number.isSafeInteger);
  return isWhole ? (value as unknown as Report) : undefined;
}
