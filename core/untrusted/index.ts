/** Content from outside, wrapped so that a model can tell it from instructions. */
export { cleanHookName, findInjection, wrapExternal } from "./external.ts";
