/** Wraps content from outside, so that a model can distinguish it from instructions. */
export {
  cleanExternal,
  cleanHookName,
  findInjection,
  replaceMarkers,
  wrapExternal,
  wrapToolText,
} from "./external.ts";
export { mapTexts } from "./invisible.ts";
