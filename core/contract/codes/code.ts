/** The form of an entry in the registry of codes. */
import type { Outcome } from "../types.ts";

/**
 * What a code means and what to do about it.
 *
 * @example
 * codes: {
 *   nick_taken: { meaning: "The nickname is already in use on the server.", hint: "Set another one in nick.", outcome: "failed" },
 * }
 */
export interface CodeDefinition {
  /** One sentence: what happened. `service why` prints it where the decision itself says nothing. */
  readonly meaning: string;
  /** What to do about it, in one or two sentences; empty where nothing is wrong. `{command}` becomes the command that runs the gateway. */
  readonly hint: string;
  /** The outcome of an event that ends with this code. Absent: the code is a step on the way, or the answer to an action. */
  readonly outcome?: Outcome;
}

/** Codes by name: `a-z`, `0-9` and `_`. A name that ends in `*` stands for all codes that begin like it. */
export type CodeTable = Readonly<Record<string, CodeDefinition>>;
