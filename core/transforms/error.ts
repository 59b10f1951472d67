/** The errors of transforms. */

/**
 * - `refused`: its path or one of its imports breaks a rule, or there is no capacity for the call;
 * - `threw`: the code threw, or could not be loaded;
 * - `result`: it returned an invalid result;
 * - `timeout`, `memory`, `exit`: its process was ended, or ended itself.
 */
export type TransformFault = "timeout" | "memory" | "exit" | "threw" | "refused" | "result";

export class TransformError extends Error {
  override readonly name = "TransformError";
  readonly kind: TransformFault;
  /** The stack in the user's code, as `file:line:column` lines, for the log. */
  readonly where: string | undefined;
  /** The first line of the stack, relative to the root. */
  place: string | undefined;

  constructor(
    kind: TransformFault,
    message: string,
    options: { readonly where?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.where = options.where;
  }
}

/**
 * The place of an error as `file:line:column` relative to the root; the module if there is no frame. A frame without a
 * line is one whose line the engine does not know.
 */
export function placeOf(
  { where }: TransformError,
  { module, root }: { readonly module: string; readonly root: string },
): string {
  const frame = where?.split("\n").find((line) => line.includes(`${root}/`));
  if (frame === undefined) return module;
  const place = frame.slice(frame.indexOf(`${root}/`) + root.length + 1).replace(/\)$/, "");
  if (/:\d+$/.test(place)) return place;
  const name = /at (.+) \(/.exec(frame)?.[1];
  return `somewhere in ${name === undefined ? "" : `the function ${name}, `}${place}`;
}

/** Adds the place to an error's message, for logs and traces. */
export function withPlace(error: unknown): unknown {
  if (!(error instanceof TransformError)) return error;
  const { kind, message, where, place, cause } = error;
  return place === undefined || message.includes(place)
    ? error
    : new TransformError(kind, `${message} (${place})`, { where, cause });
}
