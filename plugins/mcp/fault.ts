/** Why a server cannot be used: a sentence for the operator, and what to do. */

import { stripVTControlCharacters } from "node:util";

export class ServerFault extends Error {
  override readonly name = "ServerFault";
  readonly fix: string;
  /** The call surely did not reach the server. */
  readonly notSent: boolean;
  /** The connection is of no use any more. */
  readonly ended: boolean;
  /** The server refused the call before it did anything. */
  readonly refused: boolean;

  constructor(
    message: string,
    {
      fix = "",
      notSent = false,
      ended = true,
      refused = false,
    }: Partial<Pick<ServerFault, "fix" | "notSent" | "ended" | "refused">> = {},
  ) {
    super(message);
    this.fix = fix;
    this.notSent = notSent;
    this.ended = ended;
    this.refused = refused;
  }
}

/** The causes of an error, outermost first. */
export function* causesOf(
  thrown: unknown,
): Generator<Error & { readonly code?: unknown; readonly statusCode?: unknown }> {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 6; error = error.cause, depth += 1) yield error;
}

/**
 * One line without characters that move a terminal's cursor, colour it or reverse a text: what a server says is printed
 * there.
 */
export const plain = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/[\p{C}\s]+/gu, " ")
    .trim();

export const oneLine = (text: string): string => {
  const line = plain(text).replace(/\.$/, "");
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
};
