/** Names in code are the field's terms: what is stored is called stored, and who is notified is notified. */
import { basename } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { parsed } from "./parsed.ts";
import { read, sources, withoutComments } from "./sources.ts";

const forbidden: ReadonlySet<string> = new Set([
  "kept",
  "told",
  "untold",
  "said",
  "unsaid",
  "ground",
  "seat",
  "seats",
  "patient",
  "impatient",
]);

/** Names in stored records and in printed JSON, which would need a migration. */
const durable: Readonly<Record<string, readonly string[]>> = {
  // Records of pairing requests.
  "core/access/pairing.ts": ["toldAt", "toldBy", "waitToldBy"],
  // Records of outages.
  "core/agents/turn/model-outages.ts": ["told"],
  "core/agents/turn/outage-notes.ts": ["told"],
  // JSON that commands print.
  "core/cli/pairing.ts": ["told"],
  "core/cli/privacy/run.ts": ["kept"],
  // A field of the log.
  "core/gateway/shared-config.ts": ["kept"],
  // Records of reminders.
  "plugins/schedule/reminders.ts": ["kept"],
};

const wordsOf = (name: string) => name.split(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase());
const isForbidden = (name: string) => wordsOf(name).some((word) => forbidden.has(word));

interface Name {
  readonly line: number;
  readonly name: string;
}

/** Only a file with such a word need be parsed. */
function forbiddenNames(path: string, text: string): readonly Name[] {
  if (!/kept|told|said|ground|seat|patient/i.test(withoutComments(text))) return [];
  const file = parsed(path, text);
  const found: Name[] = [];
  const visit = (node: ts.Node): void => {
    if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && isForbidden(node.text))
      found.push({ line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1, name: node.text });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

test("names of code and files avoid the words that have a standard term", () => {
  const files = sources("{core,plugins,transforms,bench,test}/**/*.ts").filter(
    (path) => !/^test\/(?:fixtures\/|.*\.test\.ts$)/.test(path),
  );
  expect(files.filter((path) => isForbidden(basename(path)))).toEqual([]);
  const found = files.flatMap((path) => forbiddenNames(path, read(path)).map((one) => ({ path, ...one })));
  const isDurable = ({ path, name }: { readonly path: string; readonly name: string }) =>
    durable[path]?.includes(name) === true;
  expect(found.filter((one) => !isDurable(one)).map(({ path, line, name }) => `${path}:${line}: ${name}`)).toEqual([]);
  const unused = Object.entries(durable).flatMap(([path, names]) =>
    names.filter((name) => !found.some((one) => one.path === path && one.name === name)),
  );
  expect(unused).toEqual([]);
});

test("a forbidden word is found in any form of a name", () => {
  for (const [text, name] of [
    ["const a = 1;\nlet mostKept = 2;", "mostKept"],
    ["const a = 1;\ninterface SaidFile {}", "SaidFile"],
    ["class A {\n  #ground = 1; }", "#ground"],
    ["const a = {\n  told_at: 1 };", "told_at"],
    ["type A = {\n  isPatient: true };", "isPatient"],
  ] as const)
    expect(forbiddenNames("form.ts", text)).toEqual([{ line: 2, name }]);
  for (const text of ["const playground = 1;", "const background = 1;", "// what was kept", 'const a = "said";'])
    expect(forbiddenNames("form.ts", text)).toEqual([]);
});
