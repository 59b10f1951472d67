/** Answers accepted runs: at once, or when they have ended if the sender prefers to wait. */
import type { IncomingHttpHeaders } from "node:http";
import { reasonOf } from "../../contract/index.ts";
import { onClientEnd } from "../../http/index.ts";
import type { Answers, Call } from "./answers.ts";
import type { Results, RunAnswer, RunResult, Waiter } from "./results.ts";

/** `trusted`: whether the request's credential is still valid, checked again while the request is held. */
export type AnswerRuns = (call: Call, answer: RunAnswer, trusted: Waiter["trusted"]) => void;

export function createRunAnswers(deps: {
  readonly results: Results;
  readonly answers: Answers;
  readonly log: { error(fields: object, message: string): void };
}): AnswerRuns {
  const { results, answers, log } = deps;
  return (call, answer, trusted) => {
    const seconds = answer.runIds.length === 0 ? undefined : parsePrefer(call.request.raw.headers);
    if (seconds === undefined) {
      answers.json(call, answer.status, answer.body);
      return;
    }
    const gone = new AbortController();
    onClientEnd(call.request.raw, call.reply.raw, () => gone.abort());
    Promise.all(answer.runIds.map((runId) => results.wait(runId, seconds, { signal: gone.signal, trusted }))).then(
      (waited) => {
        if (call.reply.raw.destroyed) return;
        // The state of a run changes, and may contain the agent's reply.
        call.reply.header("cache-control", "no-store");
        if (waited.every(({ applied }) => applied)) call.reply.header("preference-applied", `wait=${seconds}`);
        const ended = waited.flatMap(({ result }) => result ?? []);
        if (ended.length < waited.length) answers.json(call, answer.status, answer.body);
        else answers.json(call, answer.endedStatus, renderEnded(ended, answer.several));
      },
      (error: unknown) => {
        // The runs were accepted, even though waiting for them failed.
        log.error({ error: reasonOf(error) }, "waiting for the end of a run failed");
        answers.json(call, answer.status, answer.body);
      },
    );
  };
}

function renderEnded(ended: readonly RunResult[], several: object | undefined): string {
  return JSON.stringify(several === undefined ? ended[0] : { ...ended[0], ...several, runs: ended });
}

/** Upper limit for every sender. */
const longestWaitSeconds = 60;

/** Preferences are separated by commas, except inside quoted values. */
const preference = /(?:"(?:[^"\\]|\\.)*"?|[^,"])+/g;
const wait = /^\s*wait\s*(?:=\s*("?)(\d{1,9})\1\s*)?(?:;.*)?$/i;

/**
 * The header `Prefer` (RFC 7240), as far as a hook endpoint supports it. Returns the whole seconds of the preference
 * `wait`, at most 60; `undefined` if there is none that can be applied. An invalid header is not an error, because a
 * preference may be ignored.
 */
export function parsePrefer(headers: IncomingHttpHeaders): number | undefined {
  const { prefer } = headers;
  const text = Array.isArray(prefer) ? prefer.join(",") : prefer;
  if (text === undefined || text.length > 1_024) return undefined;
  for (const part of text.match(preference) ?? []) {
    if (!/^\s*wait(?![\w!#$%&'*+.^`|~-])/i.test(part)) continue;
    // If a preference is given twice, the first applies, even if it cannot be parsed.
    const seconds = wait.exec(part)?.[2];
    return seconds === undefined ? undefined : Math.min(Number(seconds), longestWaitSeconds);
  }
  return undefined;
}
