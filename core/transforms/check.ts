/** Checks the transforms that a configuration names without running any of them. */
import { reasonOf } from "../contract/index.ts";
import { resolveModule, resolveTransformsRoot } from "./root.ts";

export interface ModuleProblem {
  /** What is wrong, without the setting's path and a full stop. */
  readonly message: string;
  /** True if the file does not exist yet. It is used once it exists. */
  readonly missing: boolean;
}

export function checkModule(
  module: string,
  where: { readonly configDirectory: string; readonly transformsDir?: string | undefined },
): ModuleProblem | undefined {
  try {
    resolveModule(resolveTransformsRoot(where), module);
    return undefined;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
    const message = reasonOf(error).replace(/^The transform module (".*?") /, "is $1, which ");
    return { message, missing: cause?.code === "ENOENT" };
  }
}
