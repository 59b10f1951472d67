/**
 * Whose words a model reads in a result: those of others in a wrapper, those of a plugin without anything that imitates
 * one.
 */
import type { Json } from "../../contract/index.ts";
import { isObject } from "../../host/index.ts";
import type { ToolOutcome, ToolWords } from "../../sdk/contract.ts";
import { cleanExternal, mapTexts, wrapToolText } from "../../untrusted/index.ts";

/** The model reads these outside of any wrapper, so no tool chooses their words. */
const sentences: Readonly<Record<Exclude<ToolOutcome, "answered">, string>> = {
  refused: "The call was refused before it ran. Nothing happened.",
  unreadable: "The call ran, but its answer cannot be read. Do not repeat it before you have looked at what it did.",
  unknown: "It is not known whether the call took effect. Look at what it did before you repeat it.",
};

const codes: Readonly<Record<ToolOutcome, string>> = {
  refused: "tool_refused",
  answered: "tool_error",
  unreadable: "tool_unreadable",
  unknown: "outcome_unknown",
};

const codePattern = /^[a-z][a-z0-9_]{0,63}$/;

const outcomeOf = ({ outcome }: { readonly outcome?: unknown }): ToolOutcome | undefined =>
  typeof outcome === "string" && Object.hasOwn(codes, outcome) ? (outcome as ToolOutcome) : undefined;

/**
 * Why a call was not done; `undefined` if it was. Only the name of a code is kept: the rest may contain what people
 * wrote.
 */
export function codeOf(result: Json): string | undefined {
  if (!isObject(result) || result.ok !== false) return undefined;
  if (typeof result.code === "string" && codePattern.test(result.code)) return result.code;
  const outcome = outcomeOf(result);
  return outcome === undefined ? "tool_refused" : codes[outcome];
}

/** A call that was not done. */
export const refusal = (code: string, error: string, outcome?: ToolOutcome): Json => ({
  ok: false,
  error,
  code,
  ...(outcome !== undefined && { outcome }),
});

/** A result as the model reads it. Its files stay as they are. `gateway`: the gateway's own words. */
export function inWords(
  result: Json,
  { name, words }: { readonly name: string; readonly words: ToolWords | "gateway" },
): Json {
  const outcome = isObject(result) && result.ok === false ? outcomeOf(result) : undefined;
  const sentence =
    outcome === undefined || outcome === "answered"
      ? undefined
      : { code: codeOf(result) ?? "", outcome: sentences[outcome] };
  if (words !== "outside") {
    const cleaned =
      words === "gateway" ? result : withoutMedia(result, (rest) => mapTexts(rest, cleanExternal) as Json);
    return sentence === undefined ? cleaned : { ...(cleaned as object), ...sentence };
  }
  const wrap = (text: string) => wrapToolText({ text, source: `result of the tool ${name}` });
  const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  if (isObject(result) && result.ok === false) {
    const { ok: _, error, code: __, outcome: ___, ...rest } = result;
    const texts = [error, Object.keys(rest).length > 0 ? rest : undefined]
      .filter((one) => one !== undefined)
      .map(textOf);
    return { ok: false, error: wrap(texts.join("\n")), code: codeOf(result) ?? "tool_refused", ...sentence };
  }
  return withoutMedia(result, (rest) => {
    if (rest === null || typeof rest === "boolean" || typeof rest === "number") return rest;
    if (isObject(rest) && Object.keys(rest).length === 1 && rest.ok === true) return rest;
    const isText = isObject(rest) && Object.keys(rest).every((key) => key === "text" || key === "json");
    return wrap(
      isText
        ? Object.values(rest as object)
            .map(textOf)
            .join("\n")
        : textOf(rest),
    );
  });
}

function withoutMedia(result: Json, change: (rest: Json) => Json): Json {
  if (!isObject(result) || !Array.isArray(result.media)) return change(result);
  const { media, ...rest } = result;
  if (Object.keys(rest).length === 0) return result;
  const changed = change(rest as Json);
  return isObject(changed) ? { ...changed, media } : { text: changed, media };
}
