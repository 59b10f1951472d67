/** Finds the handlers of events in the source: guarded ones, and bare ones, which the house does not allow. */
import ts from "typescript";
import { parsed } from "./parsed.ts";

export interface Handlers {
  /** Events that are heard through `core/listeners`. */
  readonly guarded: readonly string[];
  /** As `line: code`. */
  readonly bare: readonly string[];
}

const attaching: ReadonlySet<string> = new Set([
  "on",
  "once",
  "addListener",
  "prependListener",
  "prependOnceListener",
  "addEventListener",
]);
const guards: ReadonlySet<string> = new Set(["onMessage", "onEvent", "messageHandler"]);
/** Not of others: what this process aborts itself, and what its terminal or supervisor asks it to do. */
const isOwn = (event: string): boolean => event === "abort" || /^SIG[A-Z]+$/.test(event);

function textsIn(node: ts.Node): readonly string[] {
  if (ts.isStringLiteral(node)) return [node.text];
  if (ts.isConditionalExpression(node)) return [...textsIn(node.whenTrue), ...textsIn(node.whenFalse)];
  return ts.isIdentifier(node) ? [`<${node.text}>`] : [];
}

const isFunction = (node: ts.Node): boolean => ts.isArrowFunction(node) || ts.isFunctionExpression(node);

export function handlersIn(path: string, text: string): Handlers {
  const file = parsed(path, text);
  const guarded: string[] = [];
  const bare: string[] = [];
  const report = (node: ts.Node): void => {
    const start = node.getStart(file);
    const line = file.getLineAndCharacterOfPosition(start).line + 1;
    bare.push(`${line}: ${text.slice(start).split("\n")[0]?.slice(0, 80)}`);
  };
  const called = (node: ts.CallExpression): void => {
    const { expression, arguments: given } = node;
    if (ts.isIdentifier(expression) && guards.has(expression.text)) {
      const place = expression.text === "messageHandler" ? 0 : 1;
      guarded.push(...(given[place] === undefined ? [] : textsIn(given[place])));
    }
    // A server hands each request to the function that it is created with.
    const name = ts.isIdentifier(expression)
      ? expression.text
      : ts.isPropertyAccessExpression(expression)
        ? expression.name.text
        : "";
    if (/^create(?:Secure)?Server$/.test(name) && given.some(isFunction)) report(node);
    if (!ts.isPropertyAccessExpression(expression) || !attaching.has(expression.name.text)) return;
    const [event, handler] = given;
    if (event === undefined || handler === undefined || !ts.isStringLiteral(event) || isOwn(event.text)) return;
    report(node);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) called(node);
    if (
      ts.isBinaryExpression(node) &&
      node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
      ts.isPropertyAccessExpression(node.left) &&
      /^onmessage(?:error)?$/.test(node.left.name.text)
    )
      report(node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { guarded: [...new Set(guarded)].sort(), bare };
}
