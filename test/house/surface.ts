/** The declarations behind the doors of the package, read from the source without a type checker. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { root } from "./sources.ts";

export interface Declared {
  readonly name: string;
  readonly file: string;
  readonly node: ts.Node;
}

const parsed = new Map<string, ts.SourceFile>();

function parse(file: string): ts.SourceFile {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const source = ts.createSourceFile(file, readFileSync(join(root, file), "utf8"), ts.ScriptTarget.Latest, true);
  parsed.set(file, source);
  return source;
}

/** The path of an import below the root; undefined for a package. */
function fileOf(from: string, specifier: ts.Expression | undefined): string | undefined {
  if (specifier === undefined || !ts.isStringLiteral(specifier) || !specifier.text.startsWith(".")) return undefined;
  const file = join(dirname(from), specifier.text);
  return existsSync(join(root, file)) ? file : undefined;
}

function isNamed(statement: ts.Statement, name: string): boolean {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.some((one) => one.name.getText() === name);
  return (
    (ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement)) &&
    statement.name?.text === name
  );
}

/** What a name means in a file, wherever it comes from; undefined for what a package or the language brings. */
export function find(file: string, name: string): Declared | undefined {
  const source = parse(file);
  const node = source.statements.find((statement) => isNamed(statement, name));
  if (node !== undefined) return { name, file, node };
  for (const statement of source.statements) {
    const names = ts.isExportDeclaration(statement)
      ? statement.exportClause
      : ts.isImportDeclaration(statement)
        ? statement.importClause?.namedBindings
        : undefined;
    if (names === undefined || !(ts.isNamedExports(names) || ts.isNamedImports(names))) continue;
    const one = names.elements.find((element) => element.name.text === name);
    const from = fileOf(file, (statement as ts.ExportDeclaration | ts.ImportDeclaration).moduleSpecifier);
    if (one !== undefined && from !== undefined) return find(from, (one.propertyName ?? one.name).text);
  }
  return undefined;
}

/** The names that a door exports, in their order. */
export function exportsOf(door: string): readonly string[] {
  return parse(door).statements.flatMap((statement) =>
    ts.isExportDeclaration(statement) &&
    statement.exportClause !== undefined &&
    ts.isNamedExports(statement.exportClause)
      ? statement.exportClause.elements.map((element) => element.name.text)
      : [],
  );
}

/** Types that a declaration names, as far as they are this package's. */
export function mentioned({ file, node }: Declared): readonly Declared[] {
  const found = new Map<string, Declared>();
  const look = (child: ts.Node): void => {
    if (ts.isBlock(child)) return;
    const name = ts.isTypeReferenceNode(child)
      ? child.typeName.getText().split(".")[0]
      : ts.isExpressionWithTypeArguments(child)
        ? child.expression.getText()
        : undefined;
    const declared = name === undefined ? undefined : find(file, name);
    if (declared !== undefined) found.set(declared.name, declared);
    ts.forEachChild(child, look);
  };
  look(node);
  return [...found.values()];
}

/** Without comments and without what a function does. */
export function signature({ node }: Declared): string {
  const { transformed } = ts.transform(node, [
    (context) => (whole) => {
      const strip = (child: ts.Node): ts.Node | undefined => {
        if (ts.isBlock(child)) return undefined;
        return ts.visitEachChild(child, strip, context);
      };
      return strip(whole) as ts.Node;
    },
  ]);
  const [stripped = node] = transformed;
  const printer = ts.createPrinter({ removeComments: true });
  return printer
    .printNode(ts.EmitHint.Unspecified, stripped, node.getSourceFile())
    .replace(/^export /, "")
    .replace(/ {4}/g, "  ");
}

export function documentation({ node }: Declared): string {
  return ts
    .getJSDocCommentsAndTags(node)
    .map((comment) => comment.getText())
    .join("\n");
}
