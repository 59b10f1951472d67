/** Finds out from a refusal which optional field of a request the server does not know. */
import type { Failure } from "./failure.ts";

/** Fields that a request can do without. */
const optional = ["stream_options", "tool_choice", "cache_control", "max_tokens"] as const;

const unknown =
  /unknown|unrecogni[sz]ed|unexpected|unsupported|not supported|not support|not permitted|not allowed|extra (?:inputs|fields)|additional propert|cannot find field|not a valid (?:field|parameter)|no such field/i;

/** A field of the request that has to be left out; `undefined`: the refusal says nothing of one. */
export function fieldFault({ error, details }: Pick<Failure, "error" | "details">): string | undefined {
  if (error.reason !== "model_refused" && error.reason !== "model_failed") return undefined;
  const text = `${error.message}\n${details ?? ""}`;
  return unknown.test(text)
    ? optional.find((field) => new RegExp(`(?<![\\w])${field}(?![\\w])`).test(text))
    : undefined;
}
