import ts from "typescript";
import { parsed } from "./parsed.ts";
import { read } from "./sources.ts";

const groups = new Set(["describe"]);
const cases = new Set(["test", "it"]);

/** The titles of the tests of a file, `group > title`, as the file writes them: `%s` and `$name` of a table stay. */
export function titlesOf(path: string): readonly string[] {
  const file = parsed(path, read(path));
  const titles: string[] = [];
  const visit = (node: ts.Node, within: readonly string[]): void => {
    const inner = titledCall(node, file);
    const title = [...within, ...(inner === undefined ? [] : [inner.title])];
    if (inner?.isTest === true) titles.push(title.join(" > "));
    else ts.forEachChild(node, (child) => visit(child, title));
  };
  visit(file, []);
  return titles;
}

function titledCall(node: ts.Node, file: ts.SourceFile) {
  if (!ts.isCallExpression(node)) return undefined;
  const [first] = node.arguments;
  const name = /^\w+/.exec(node.expression.getText(file))?.[0] ?? "";
  const isTest = cases.has(name);
  // `test.each(rows)` is a call as well; its title is in the call around it.
  if (first === undefined || (!isTest && !groups.has(name)) || !isTitle(first)) return undefined;
  const title = ts.isStringLiteralLike(first) ? first.text : first.getText(file).slice(1, -1);
  return { isTest, title };
}

const isTitle = (node: ts.Node): boolean => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
