/**
 * What a plugin may put into its store. Anything else would be written as something different: a number as key as
 * `5.0`, a promise as `{}`.
 */
import { kindOf } from "./answers.ts";

const storedTypes: readonly string[] = ["object", "string", "number", "boolean"];

/** The key. Throws if it, or the value, cannot be stored as it is. `call` is the name of the called function. */
export function storableKey(call: string, key: string, value: unknown): string {
  const refuse = (problem: string) => {
    throw new TypeError(`store.${call} ${problem}`);
  };
  if (typeof key !== "string") refuse(`needs a text as key, not ${kindOf(key)}`);
  if (typeof (value as { readonly then?: unknown } | null | undefined)?.then === "function") {
    // Its rejection has no other handler.
    Promise.resolve(value).catch(() => {});
    refuse(`received a promise as value of ${key}: await it first`);
  }
  if (!storedTypes.includes(typeof value)) refuse(`received a value of ${key} that is not JSON: ${kindOf(value)}`);
  return key;
}
