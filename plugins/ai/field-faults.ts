/** Finds out from a refusal which optional field of a request the server does not know. */
import { thoughtField } from "./chat/request-fields.ts";
import type { Failure } from "./failure.ts";

/** Fields that a request can do without. */
const optional = ["stream_options", "tool_choice", "cache_control", "max_tokens", thoughtField] as const;

const unknown =
  /unknown|unrecogni[sz]ed|unexpected|unsupported|not supported|not support|not permitted|not allowed|extra (?:inputs|fields)|additional propert|cannot find field|not a valid (?:field|parameter)|no such field/i;

const refusals: ReadonlySet<string> = new Set(["model_refused", "model_failed"]);

const textOf = ({ error, details }: Pick<Failure, "error" | "details">): string => `${error.message}\n${details ?? ""}`;

/** A field of the request that has to be left out; `undefined`: the refusal says nothing of one. */
export function fieldFault(failure: Pick<Failure, "error" | "details">): string | undefined {
  if (!refusals.has(failure.error.reason) || missesThoughts(failure)) return undefined;
  const text = textOf(failure);
  return unknown.test(text)
    ? optional.find((field) => new RegExp(`(?<![\\w])${field}(?![\\w])`).test(text))
    : undefined;
}

/** Whether the server wants to read a thought for each call of a tool, also where there was none. */
export function missesThoughts(failure: Pick<Failure, "error" | "details">): boolean {
  const text = textOf(failure);
  return (
    refusals.has(failure.error.reason) &&
    text.includes(thoughtField) &&
    /must be passed back|missing|is required|field required/i.test(text)
  );
}
