/** Acts of operators are recorded before they are carried out, so that none takes place without a trace. */
import { HttpProblem, type OwnAnswer, type OwnRequest } from "../../../http/index.ts";
import { endAct, recordAct } from "../../../reports/index.ts";
import type { V1Deps } from "./deps.ts";

export interface Intent {
  /** What is about to be done, such as `pairing_approve`. */
  readonly act: string;
  /** What it is done to, such as an event's id. */
  readonly subject: string;
}

/**
 * Records the act, carries it out, and records how it ended. If the record cannot be written, nothing is done. An act
 * without an end was interrupted. `work` throws, or answers with a status above 399, if the act was refused.
 */
export async function carryOut(
  { store, now, newId, log }: Pick<V1Deps, "store" | "now" | "newId" | "log">,
  { caller }: Pick<OwnRequest, "caller">,
  { act, subject }: Intent,
  work: () => Promise<OwnAnswer>,
): Promise<OwnAnswer> {
  const key = await recordAct(store, newId(), { at: now(), by: caller.name, act, subject });
  const ended = async (end: "done" | "refused" | "failed") => {
    log.info({ by: caller.name, act, subject, end }, "an operator acted");
    await endAct(store, key, end);
  };
  try {
    const answer = await work();
    await ended((answer.status ?? 200) < 400 ? "done" : "refused");
    return answer;
  } catch (error) {
    await ended(error instanceof HttpProblem ? "refused" : "failed").catch(() => {});
    throw error;
  }
}
