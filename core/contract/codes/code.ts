/** The format of an entry in the registry of codes. */
import type { Outcome } from "../types.ts";

/**
 * The meaning of a code and what to do about it.
 *
 * @example
 * codes: {
 *   nick_taken: {
 *     meaning: "The nickname is already in use on the server.",
 *     hint: "Set another one in nick.",
 *     outcome: "failed",
 *   },
 * }
 */
export interface CodeDefinition {
  /** One sentence that says what happened. `service why` prints it if the decision has no detail of its own. */
  readonly meaning: string;
  /**
   * What to do about it, in one or two sentences; empty if nothing is wrong. `{command}` is replaced by the command
   * that runs the gateway.
   */
  readonly hint: string;
  /**
   * What to do about it while the gateway tries again by itself: after an error that is `retryable`, and while the
   * account is `waiting`. Default: `hint`.
   */
  readonly hintWhileRetrying?: string;
  /**
   * Set if the code means that a model, or its whole provider, does not answer at the moment. A turn that no person
   * watches then waits for it instead of failing.
   */
  readonly away?: "model" | "provider";
  /** The outcome of an event that ends with this code. Absent for codes of intermediate steps and of actions. */
  readonly outcome?: Outcome;
}

/** Codes by name: `a-z`, `0-9` and `_`. A name that ends in `*` covers all codes with that prefix. */
export type CodeTable = Readonly<Record<string, CodeDefinition>>;
