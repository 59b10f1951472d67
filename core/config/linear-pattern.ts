/** Runs patterns from the configuration in a linear-time engine, so that none of them can stall the process. */
import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

export type LinearPattern = RE2JS;

/** Loads the engine with the first pattern: it takes 4 MB, and most gateways never need it. */
export function linearPatterns(): typeof RE2JS {
  return (createRequire(import.meta.url)("re2js") as { readonly RE2JS: typeof RE2JS }).RE2JS;
}
