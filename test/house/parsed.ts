import ts from "typescript";

/**
 * The syntax of a TypeScript text, without what the tests never look at: the comments of its documentation, and the way
 * from a node up.
 */
export function parsed(path: string, text: string): ts.SourceFile {
  const options = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  return ts.createSourceFile(path, text, options, false);
}
