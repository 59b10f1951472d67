/** Checks what the store and its writer send to each other. */
import type { Reply, Request } from "./protocol.ts";

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** A reply of the writer; `undefined` if the value is none. */
export function asReply(value: unknown): Reply | undefined {
  if (!isObject(value)) return undefined;
  const { type, results, failures, failure } = value;
  const isWhole =
    type === "ready" ||
    (type === "done" && (results === null || Array.isArray(results)) && Array.isArray(failures)) ||
    ((type === "undone" || type === "refused") && isObject(failure) && typeof failure.message === "string");
  return isWhole ? (value as unknown as Reply) : undefined;
}

/** A request to the writer, in an object because `null` is one; `undefined` if the value is none. */
export function asRequest(value: unknown): { readonly request: Request } | undefined {
  if (value === null) return { request: null };
  if (!isObject(value)) return undefined;
  const { names, inputs, durable } = value;
  const isWhole =
    Array.isArray(names) && Array.isArray(inputs) && names.length === inputs.length && typeof durable === "boolean";
  return isWhole ? { request: value as unknown as Request } : undefined;
}
