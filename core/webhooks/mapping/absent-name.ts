/** Names in templates that a payload does not have, such as a misspelled one. */
import type { Json } from "../../contract/index.ts";
import { renderPayloadPath } from "./payload-path.ts";

/** A name that the payload does not have. */
export interface AbsentName {
  /** The path of the name, such as `issue.titel`. */
  readonly name: string;
  /** One sentence without a full stop: "`titel` is not in the payload; it has title, state, message". */
  readonly detail: string;
}

const mostNames = 12;
const longestName = 40;

/**
 * The first name of a path that its place does not have. `undefined` if the path exists, or if what should contain the
 * name is absent or null, or is a list with fewer elements: payloads of one sender differ in that.
 */
export function absentIn(payload: Json, keys: readonly string[]): AbsentName | undefined {
  let value: Json = payload;
  for (const [index, key] of keys.entries()) {
    if (value === null || typeof value !== "object") return value === null ? undefined : absent(keys, index, value);
    if (!Object.hasOwn(value, key))
      return Array.isArray(value) && /^\d+$/.test(key) ? undefined : absent(keys, index, value);
    value = (value as { readonly [name: string]: Json })[key] ?? null;
  }
  return undefined;
}

function absent(keys: readonly string[], index: number, place: Exclude<Json, null>): AbsentName {
  const name = renderPayloadPath(keys.slice(0, index + 1));
  const around = index === 0 ? "it" : `\`${renderPayloadPath(keys.slice(0, index))}\``;
  return { name, detail: `\`${name}\` is not in the payload; ${around} ${contentOf(place)}` };
}

function contentOf(place: Exclude<Json, null>): string {
  if (typeof place !== "object") return typeof place === "string" ? "is a text" : `is a ${typeof place}`;
  if (Array.isArray(place)) return `is a list of ${place.length}`;
  const names = Object.keys(place);
  const shown = names
    .slice(0, mostNames)
    .map((one) => (one.length > longestName ? `${one.slice(0, longestName - 1)}…` : one));
  if (shown.length === 0) return "is empty";
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : "";
  return `has ${shown.join(", ")}${more}`.toWellFormed();
}
