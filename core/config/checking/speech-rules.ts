/** Checks `models.speech`: each entry names a model or a program, and a program is handed its files. */
import { renderPath, type Segment } from "../path.ts";
import type { Draft } from "../schema.ts";
import type { PlacedProblem } from "./validate.ts";

type Speech = NonNullable<Draft["models"]["speech"]>;
type Entry = { readonly model?: string | undefined; readonly command?: readonly string[] | undefined };

/** An entry and its place in the file. */
export interface SpeechEntry {
  readonly entry: Entry;
  readonly at: readonly Segment[];
}

const root = ["models", "speech"];

/** The entries of `models.speech`, each with its place. */
export function speechEntries(
  { in: listeners = [], out }: Speech,
  indexOf: (list: readonly unknown[], index: number) => number,
): readonly SpeechEntry[] {
  const into = Array.isArray(listeners)
    ? listeners.map((entry, index) => ({ entry, at: [...root, "in", indexOf(listeners, index)] }))
    : [{ entry: listeners, at: [...root, "in"] }];
  return [...into, ...(out === undefined ? [] : [{ entry: out, at: [...root, "out"] }])];
}

/** What is wrong with an entry; `undefined` if nothing is. */
function problemOf({ entry: { model, command }, at }: SpeechEntry): PlacedProblem | undefined {
  const error = (below: readonly Segment[], message: string, hint: string): PlacedProblem => {
    const place = [...at, ...below];
    return { severity: "error", at: place, path: renderPath(place), message, hint };
  };
  if (model !== undefined && command !== undefined)
    return error([], "names a model and a command", "Keep one of them; models.speech.in may be a list of several.");
  if (command === undefined)
    return model === undefined
      ? error([], "names neither a model nor a command", 'Set model to provider/model, or command to ["program", ...].')
      : undefined;
  const wanted = at.at(-1) === "out" ? ["{text}", "{output}"] : ["{file}"];
  const missing = wanted.filter((name) => !command.some((argument) => argument.includes(name)));
  return missing.length === 0
    ? undefined
    : error(
        ["command"],
        `does not contain ${missing.join(" and ")}`,
        `Write ${missing.join(" and ")} where the program expects the path of that file.`,
      );
}

/** Reports wrong entries and removes them from the draft. */
export function checkSpeech(
  draft: Draft,
  indexOf: (list: readonly unknown[], index: number) => number,
): readonly PlacedProblem[] {
  const { speech } = draft.models;
  if (speech === undefined) return [];
  const found = speechEntries(speech, indexOf).flatMap((one) => {
    const problem = problemOf(one);
    return problem === undefined ? [] : [{ entry: one.entry, problem }];
  });
  const wrong = new Set<Entry>(found.map(({ entry }) => entry));
  if (speech.out !== undefined && wrong.has(speech.out)) delete speech.out;
  if (Array.isArray(speech.in)) speech.in = speech.in.filter((entry) => !wrong.has(entry));
  else if (speech.in !== undefined && wrong.has(speech.in)) delete speech.in;
  return found.map(({ problem }) => problem);
}
