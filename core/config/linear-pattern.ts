/** Patterns from the configuration run in an engine whose time is linear: none of them can stall the process. */
import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

export type LinearPattern = RE2JS;

const require = createRequire(import.meta.url);

/** Loaded with the first pattern: 4 MB that most gateways have no use for. */
export function linearPatterns(): typeof RE2JS {
  return (require("re2js") as { readonly RE2JS: typeof RE2JS }).RE2JS;
}
