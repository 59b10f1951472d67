/** Why a transform gave no answer. */

/**
 * - `refused`: its path or one of its imports breaks a rule, or there is no room for the call;
 * - `threw`: the code threw, or could not be loaded;
 * - `result`: what it returned is no answer;
 * - `timeout`, `memory`, `exit`: its process was ended, or ended itself.
 */
export type TransformFault = "timeout" | "memory" | "exit" | "threw" | "refused" | "result";

export class TransformError extends Error {
  override readonly name = "TransformError";
  readonly kind: TransformFault;
  /** Where in the user's code, as `file:line:column` lines; for the log. */
  readonly where: string | undefined;

  constructor(kind: TransformFault, message: string, options: { readonly where?: string | undefined; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.where = options.where;
  }
}
