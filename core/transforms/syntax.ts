/** The child's side of languages: TypeScript without its types, and CommonJS as a function. */
import { stripTypeScriptTypes } from "node:module";
import { type CompileFunctionOptions, compileFunction, constants } from "node:vm";
import { defineProperty, endsWith, exec, IntrinsicError, startsWith, text } from "./intrinsics.ts";

export const isTypeScript = (path: string): boolean => endsWith(path, ".ts") || endsWith(path, ".mts") || endsWith(path, ".cts");

export const codeOf = (error: unknown): string => text((error as { readonly code?: unknown } | undefined)?.code);

/** Node's stripper is made of WebAssembly, which user code does not get: to be called before it is taken away, where there is TypeScript. */
export const readyTypes = (): void => void stripTypeScriptTypes("");

/** JavaScript of the same lines and columns. Throws with `code` and `file` when the types are more than types. */
export function stripTypes(source: string, name: string): string {
  try {
    return stripTypeScriptTypes(source);
  } catch (error) {
    // Node puts `:LINE` and the line itself on top of the stack.
    const line = exec(/^:(\d+)\n/, text((error as Error)?.stack))?.[1];
    const problem = new IntrinsicError(`${name}${line === undefined ? "" : `:${line}`}: ${text((error as Error)?.message)}`);
    defineProperty(problem, "code", { value: codeOf(error) });
    defineProperty(problem, "file", { value: name });
    throw problem;
  }
}

const parameters = ["exports", "require", "module", "__filename", "__dirname"];

export type CommonFunction = (exports: unknown, require: unknown, module: unknown, filename: string, dirname: string) => void;

/** Throws `SyntaxError`, also for what is an ES module. `import()` in it goes the way of every import. */
export function compileCommon(source: string, path: string): CommonFunction {
  return compileFunction(startsWith(source, "#!") ? `//${source}` : source, parameters, {
    // Node looks for more options on it, a cache of machine code among them: none is to be found on a prototype.
    __proto__: null,
    filename: path,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  } as CompileFunctionOptions) as CommonFunction;
}
