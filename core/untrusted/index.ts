/** Wraps content from outside, so that a model can distinguish it from instructions. */
export { cleanHookName, findInjection, wrapExternal } from "./external.ts";
