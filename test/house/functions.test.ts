import ts from "typescript";
import { expect, test } from "vitest";
import { parsed } from "./parsed.ts";
import { read, sources } from "./sources.ts";

const mostLines = 150;

/** Files with a longer function that is still to be split. */
const exceptions: readonly string[] = [
  // They only wire: a composition is read in one piece.
  "core/agents/tools/approvals.ts",
  "core/agents/tools/called-tool.ts",
  "core/gateway/runtime.ts",
];

interface LongFunction {
  readonly line: number;
  readonly lines: number;
}

/**
 * Functions of more than 150 lines, those inside of them included in the count. A shorter file has none, and need not
 * be parsed.
 */
function longFunctions(path: string, text: string): readonly LongFunction[] {
  if (text.split("\n").length <= mostLines) return [];
  const file = parsed(path, text);
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;
  const found: LongFunction[] = [];
  const visit = (node: ts.Node): void => {
    const line = lineAt(node.getStart(file));
    const lines = lineAt(node.getEnd()) - line + 1;
    // What is short contains nothing long.
    if (lines <= mostLines) return;
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) found.push({ line, lines });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** The rules of a contract are one list of tests, read from top to bottom. */
const isContract = (path: string) => path.startsWith("core/testkit/store/");

test(`a function has at most ${mostLines} lines`, () => {
  const long = sources("{core,plugins}/**/*.ts")
    .filter((path) => !isContract(path))
    .flatMap((path) =>
      longFunctions(path, read(path)).map(({ line, lines }) => ({ path, at: `${path}:${line}: ${lines} lines` })),
    );
  expect(long.filter(({ path }) => !exceptions.includes(path)).map(({ at }) => at)).toEqual([]);
  expect(exceptions.filter((path) => !long.some((one) => one.path === path))).toEqual([]);
});

test("a function over the limit is found in any form", () => {
  const body = "\n".repeat(mostLines - 1);
  const forms = [
    "function one() {#}",
    "const two = async () => {#};",
    "const three = { four() {#} };",
    "class Five { get six() {#} }",
  ];
  for (const form of forms) {
    expect(longFunctions("form.ts", form.replace("#", body))).toEqual([]);
    expect(longFunctions("form.ts", form.replace("#", `${body}\n`))).toEqual([{ line: 1, lines: mostLines + 1 }]);
  }
});
