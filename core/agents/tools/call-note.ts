/** What the next turn reads of a call: without it, the agent forgets what it did. */
import type { Json } from "../../contract/index.ts";
import { isObject } from "../../host/index.ts";
import type { ToolUse } from "../../stations/index.ts";
import { cleanExternal } from "../../untrusted/index.ts";

const mostArguments = 120;
const mostReturned = 160;

const brief = (text: string, most: number) => (text.length <= most ? text : `${text.slice(0, most)}…`).toWellFormed();

/** White space that goes can make a marker of something that was none, so it goes first. */
const clean = (text: string) => cleanExternal(text.replace(/\s+/g, " ").trim());

/**
 * Arguments and outcome are the agent's own account. What the tool returned is the words of others: it is kept apart. `result` is without
 * its wrapper.
 */
export function callNote(args: Json, result: Json, code: string | undefined): Pick<ToolUse, "summary" | "returned"> {
  const returned = code === undefined ? clean(textOf(withoutFiles(result))) : errorOf(result);
  return {
    summary: `${clean(brief(JSON.stringify(args), mostArguments))}: ${code ?? "done"}`,
    ...(!isEmpty(result) && returned !== "" && { returned: brief(returned, mostReturned) }),
  };
}

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

const errorOf = (result: Json): string => (isObject(result) && typeof result.error === "string" ? clean(result.error) : "");

/** Says no more than that the call was done. */
const isEmpty = (result: Json): boolean => isObject(result) && result.ok === true && Object.keys(result).length === 1;

/** Images are data of megabytes. */
function withoutFiles(result: Json): Json {
  if (!isObject(result) || !Array.isArray(result.media)) return result;
  const { media, ...rest } = result;
  return { ...rest, files: media.length } as Json;
}
