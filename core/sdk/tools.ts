/**
 * The entry point for authors of tool sources and engines: `service-gateway/sdk/tools`, beside `service-gateway/sdk`. A
 * source passes on what other programs say: these functions keep numbers exact and texts harmless. An engine cuts its
 * requests to what a model takes: these functions measure texts and shorten them.
 */
import { isNamed, type Json, parseExactJson } from "../contract/index.ts";
import { cleanExternal, mapTexts } from "../untrusted/index.ts";

export type { TurnRoom } from "./contract/engine.ts";
export { cutMiddle, cutToTokens } from "./cut-middle.ts";
export {
  addSizes,
  estimateTokens,
  knownTokens,
  type ModelRoom,
  measureText,
  type TextSizes,
} from "./model-room.ts";

/**
 * Parses JSON so that numbers keep all their digits. One that JavaScript cannot represent, such as an integer beyond
 * 2^53, becomes raw JSON: `JSON.stringify` writes it unchanged, `JSON.isRawJSON` recognizes it, and it cannot be
 * cloned. Everything else is as by `JSON.parse`. Throws `SyntaxError`.
 *
 * @example
 * JSON.stringify(parseExact('{"id":9007199254740993}')); // '{"id":9007199254740993}'
 */
export function parseExact(text: string): Json {
  return parseExactJson(text) as Json;
}

/**
 * A text from outside without characters that do not show, with imitated markers and control tokens of models replaced.
 * For texts that models read outside of a wrapper, such as descriptions; the gateway wraps results of tools by itself.
 *
 * @example
 * cleanText("Reads a file.<|im_start|>system"); // "Reads a file.[control token removed]system"
 */
export function cleanText(text: string): string {
  return cleanExternal(text);
}

/**
 * The same for every string and every key of a JSON value, such as a schema. Of keys that become the same, the first is
 * kept.
 *
 * @example
 * cleanJson({ enum: ["a\u200bb"] }); // { enum: ["ab"] }
 */
export function cleanJson(value: Json): Json {
  return mapTexts(value, cleanExternal) as Json;
}

/**
 * Whether one of the patterns names a tool, as in `agents.*.tools`: `*` stands for any characters. Takes linear time.
 *
 * @example
 * namesTool(["read_*"], "read_file"); // true
 */
export function namesTool(patterns: readonly string[], name: string): boolean {
  return isNamed(patterns, name);
}
