/** Why a server cannot be used: a sentence for the operator, and what to do. */

export class ServerFault extends Error {
  override readonly name = "ServerFault";
  readonly fix: string;
  /** The call surely did not reach the server. */
  readonly notSent: boolean;
  /** The connection is of no use any more. */
  readonly ended: boolean;

  constructor(message: string, { fix = "", notSent = false, ended = true }: Partial<Pick<ServerFault, "fix" | "notSent" | "ended">> = {}) {
    super(message);
    this.fix = fix;
    this.notSent = notSent;
    this.ended = ended;
  }
}

/** The causes of an error, outermost first. */
export function* causesOf(thrown: unknown): Generator<Error & { readonly code?: unknown; readonly statusCode?: unknown }> {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 6; error = error.cause, depth += 1) yield error;
}

export const oneLine = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim().replace(/\.$/, "");
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
};
