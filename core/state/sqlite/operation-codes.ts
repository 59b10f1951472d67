/** The operations as numbers, which is how they travel: a name that arrives from another thread is a new text, which has to be looked up before anything is found by it. */
import type { OperationName } from "./protocol.ts";

const names = [
  "accept",
  "say",
  "settle",
  "claim",
  "sending",
  "notSent",
  "doubted",
  "sent",
  "unsendable",
  "handBack",
  "setPreview",
  "begin",
  "replay",
  "updateSession",
  "moveChat",
  "set",
  "delete",
  "swap",
  "prune",
  "pass",
] as const satisfies readonly OperationName[];

const codes: Readonly<Record<OperationName, number>> = codesOf(names);

/** Does not compile while an operation has no place in the list. */
function codesOf(listed: readonly [OperationName] extends readonly [(typeof names)[number]] ? typeof names : never) {
  return Object.fromEntries(listed.map((name, code) => [name, code])) as Record<OperationName, number>;
}

export function codeOf(name: OperationName): number {
  return codes[name];
}

export function nameOf(code: number): OperationName {
  const name = names[code];
  if (name === undefined) throw new Error(`No operation has the code ${code}.`);
  return name;
}
