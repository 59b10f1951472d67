/** What is wrong with a transform that a configuration names, reported before any of it runs. */
import { reasonOf } from "../contract/index.ts";
import { resolveModule, resolveTransformsRoot } from "./root.ts";

export interface ModuleProblem {
  /** Without the path of the setting and without a full stop. */
  readonly message: string;
  /** There is no such file yet; once there is, it is used. */
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
