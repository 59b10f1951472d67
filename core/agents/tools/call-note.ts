/** What the next turn reads of a call: without it, the agent forgets what it did. */
import type { Json } from "../../contract/index.ts";
import { isObject } from "../../host/index.ts";
import type { ToolUse } from "../../stations/index.ts";
import { cleanExternal } from "../../untrusted/index.ts";
import { brief, withoutFiles } from "./call-texts.ts";

const mostArguments = 120;
const mostReturned = 160;

/** White space that goes can make a marker of something that was none, so it goes first. */
const clean = (text: string) => cleanExternal(text.replace(/\s+/g, " ").trim());

/**
 * Arguments and outcome are the agent's own account. What the tool returned is the words of others: it is kept apart.
 * `result` is without its wrapper, and `undefined` for a call that was cut off.
 */
export function callNote(
  args: Json,
  result: Json | undefined,
  code: string | undefined,
): Pick<ToolUse, "summary" | "returned"> {
  const done = clean(brief(JSON.stringify(args), mostArguments));
  if (result === undefined) return { summary: `${done}: interrupted, the outcome is unknown` };
  const returned = code === undefined ? clean(textOf(withoutFiles(result))) : errorOf(result);
  return {
    summary: `${done}: ${code ?? "done"}`,
    ...(!isEmpty(result) && returned !== "" && { returned: brief(returned, mostReturned) }),
  };
}

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

const errorOf = (result: Json): string =>
  isObject(result) && typeof result.error === "string" ? clean(result.error) : "";

/** Says no more than that the call was done. */
const isEmpty = (result: Json): boolean => isObject(result) && result.ok === true && Object.keys(result).length === 1;
