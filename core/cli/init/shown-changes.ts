/** The changed lines of a configuration, without the secrets that may be among them. */
import { diff } from "node:util";
import { isRecord } from "../../config/checking/validate.ts";
import { isSecretName } from "../../config/showing/redact.ts";

export interface ShownLine {
  readonly kind: "added" | "removed" | "same";
  readonly text: string;
}

/** Lines around a change that show where it is. */
const around = 1;
const hidden = '"(set)"';

/** `written`: the value of the text before. Distant lines are left out, one `undefined` for each gap. */
export function shownChanges(before: string, after: string, written: unknown): readonly (ShownLine | undefined)[] {
  const secrets = [...secretTexts(written)];
  const changes = diff(after.split(/\r?\n/), before.split(/\r?\n/)).map(
    ([way, text]): ShownLine => ({
      kind: way === 0 ? "same" : way > 0 ? "added" : "removed",
      text: withoutSecrets(text, secrets),
    }),
  );
  const lines = removedFirst(changes);
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - around), at + around + 1).some(({ kind }) => kind !== "same");
  const shown: (ShownLine | undefined)[] = [];
  lines.forEach((line, at) => {
    if (isNear(at)) shown.push(line);
    else if (shown.at(-1) !== undefined) shown.push(undefined);
  });
  return shown.at(-1) === undefined ? shown.slice(0, -1) : shown;
}

/** Of the lines of one change, the old ones come first, as people know it. */
function removedFirst(lines: readonly ShownLine[]): readonly ShownLine[] {
  const sorted: ShownLine[] = [];
  const added: ShownLine[] = [];
  for (const line of lines) {
    if (line.kind === "added") added.push(line);
    else {
      if (line.kind === "same") sorted.push(...added.splice(0));
      sorted.push(line);
    }
  }
  return [...sorted, ...added];
}

/** Texts that the file has under the name of a secret, wherever they are in the lines. */
function* secretTexts(value: unknown, isSecret = false): Generator<string> {
  if (typeof value === "string" && isSecret && value !== "") yield value;
  if (Array.isArray(value)) for (const item of value) yield* secretTexts(item, isSecret);
  // `{ "file": "name" }` only names where the secret is.
  else if (isRecord(value))
    for (const [key, item] of Object.entries(value))
      yield* secretTexts(item, (isSecret && key !== "file" && key !== "env") || isSecretName(key));
}

/** Also in comments, where people leave the value that they had before. */
function withoutSecrets(line: string, secrets: readonly string[]): string {
  const named = line.replace(/("([^"\\]+)"\s*:\s*)"(?:[^"\\]|\\.)*"/g, (all, start: string, key: string) =>
    isSecretName(key) ? `${start}${hidden}` : all,
  );
  const plain = secrets.reduce((text, secret) => text.replaceAll(JSON.stringify(secret).slice(1, -1), "(set)"), named);
  return plain.replace(/\/\/[^/?#\s@]*@/g, "//(set)@");
}
