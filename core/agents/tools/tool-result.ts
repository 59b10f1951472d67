/** What a model is shown of a tool's result: within limits, so that one call cannot fill its context. */
import type { Json } from "../../contract/index.ts";
import { isObject, kindOf } from "../../host/index.ts";
import type { ToolOutput, ToolResult } from "../../sdk/contract.ts";

const mostCharacters = 50_000;
const mostFiles = 4;
/** Of one file, in characters of base64: 5 MB. */
const mostFileCharacters = Math.ceil((5 * 1_024 * 1_024) / 3) * 4;

const outputKeys: readonly string[] = ["text", "json", "media"] satisfies readonly (keyof ToolOutput)[];

function isOutput(value: unknown): value is ToolOutput {
  if (!isObject(value)) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => outputKeys.includes(key));
}

/** The beginning and the end of a text that is too long: errors and totals stand at an end. */
function cut(text: string): string {
  if (text.length <= mostCharacters) return text;
  const half = mostCharacters / 2;
  return (
    `${text.slice(0, half)}\n[${text.length - mostCharacters} characters left ` + `out]\n${text.slice(-half)}`
  ).toWellFormed();
}

function shortened(json: Json): Json {
  const written: unknown = JSON.stringify(json);
  if (typeof written !== "string") throw new TypeError(`it returned ${kindOf(json)}, which is not JSON`);
  if (written.length <= mostCharacters) return json;
  return typeof json === "string" ? cut(json) : { text: cut(written) };
}

/** Throws a `TypeError` that says what is wrong with the result. */
export function shownResult(result: ToolResult | undefined): Json {
  if (result === undefined || result === null) return { ok: true };
  if (!isOutput(result)) return shortened(result);
  const { text, json, media = [] } = result;
  if (text !== undefined && typeof text !== "string") throw new TypeError("text of its result is not a text");
  if (!Array.isArray(media)) throw new TypeError("media of its result is not a list");
  const isShown = ({ data, mimeType }: (typeof media)[number]) =>
    typeof data === "string" && typeof mimeType === "string" && data.length <= mostFileCharacters;
  const shown = media.filter(isShown).slice(0, mostFiles);
  const left = media.length - shown.length;
  const note =
    left === 0 ? [] : [`[${left} of ${media.length} files left out: at most ${mostFiles} of 5 MB each are shown]`];
  const content = [...(text === undefined ? [] : [cut(text)]), ...note].join("\n");
  if (shown.length === 0 && json === undefined) return content;
  return {
    ...(content === "" ? {} : { text: content }),
    ...(json === undefined ? {} : { json: shortened(json) }),
    ...(shown.length === 0 ? {} : { media: shown.map(({ mimeType, data }) => ({ mimeType, data })) }),
  };
}
