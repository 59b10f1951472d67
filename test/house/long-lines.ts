import ts from "typescript";
import { parsed } from "./parsed.ts";

const mostColumns = 120;
/** What may stand around a literal that cannot be broken. */
const mostAround = 60;

/** The numbers of the lines above 120 columns; lines that a literal makes so long are left out. 1 is the first. */
export function longLines(path: string, text: string): readonly number[] {
  const lines = text.split("\n");
  if (lines.every((line) => line.length <= mostColumns)) return [];
  const breakable = text.split("");
  const file = parsed(path, text);
  const visit = (node: ts.Node): void => {
    if (isUnbreakable(node, path)) breakable.fill("", node.getStart(file), node.getEnd());
    else ts.forEachChild(node, visit);
  };
  visit(file);
  let start = 0;
  return lines.flatMap((line, index) => {
    const around = breakable.slice(start, start + line.length).join("");
    start += line.length + 1;
    return line.length > mostColumns && around.length > mostAround ? [index + 1] : [];
  });
}

/**
 * Patterns, programs and recorded bytes in templates, and texts without a space. A template of the product that is a
 * sentence can be broken.
 */
function isUnbreakable(node: ts.Node, path: string): boolean {
  if (ts.isRegularExpressionLiteral(node) || ts.isTaggedTemplateExpression(node)) return true;
  if (ts.isStringLiteral(node)) return !node.text.includes(" ");
  if (ts.isNoSubstitutionTemplateLiteral(node)) return isData(node.text, path);
  if (!ts.isTemplateExpression(node)) return false;
  return isData(
    [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join(""),
    path,
  );
}

const isData = (text: string, path: string) => path.startsWith("test/") || !/[a-z]+ [a-z]+ [a-z]+/.test(text);
