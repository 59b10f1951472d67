/** Sends the answers of the hook endpoints. Refusals are logged, and stored for the operator. */
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { reasonOf } from "../../contract/index.ts";
import { HttpProblem, jsonType, sendProblem } from "../../http/index.ts";
import { onEvent } from "../../listeners/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import { findInjection } from "../../untrusted/index.ts";
import { SignatureProblem } from "../signature/signature-faults.ts";
import { NotTaken, RecordedProblem } from "./answer-delivery.ts";
import type { RefusedHook } from "./refusals.ts";
import { BudgetProblem } from "./run-budget.ts";
import { createUnauthorizedLog } from "./unauthorized-log.ts";

/** One request on its way through the checks. */
export interface Call {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The path below the base path, as it was sent. */
  readonly subPath: string;
  /** Without the question mark. */
  readonly query: string;
}

export interface AnswerDeps {
  readonly clientAddress: (request: IncomingMessage) => string;
  readonly now: () => number;
  readonly log: Pick<PluginLog, "debug" | "info" | "warn" | "error">;
  readonly onRefused?: (refused: RefusedHook) => void;
}

export interface Answers {
  refuse(call: Call, problem: HttpProblem): void;
  /**
   * Refuses a request whose body is still being received, and closes its connection instead of waiting for the rest.
   */
  drop(call: Call, problem: HttpProblem): void;
  /** Answers with any thrown error. */
  fail(call: Call, error: unknown): void;
  json(call: Call, status: number, body: string): void;
  /** Answers with 204. */
  empty(call: Call): void;
  /** Logs one line for content that looks like an attempt to give instructions. */
  reportInjection(hook: string, text: string): void;
}

const internal = new HttpProblem("internal", "The request failed; the gateway's log says why.");

export function createAnswers(deps: AnswerDeps): Answers {
  const unauthorized = createUnauthorizedLog(deps.log);
  const answers: Answers = {
    refuse(call, problem) {
      // A failure that is in the inbox was logged when it was put there.
      if (!(problem instanceof RecordedProblem)) reportRefusal({ ...deps, unauthorized }, call, problem);
      sendProblem(call.reply, problem);
    },
    drop(call, problem) {
      onEvent(call.reply.raw, "finish", { source: "a client", handle: () => call.request.raw.socket.destroySoon() });
      answers.refuse(call, problem);
    },
    fail(call, error) {
      if (error instanceof HttpProblem) return answers.refuse(call, error);
      deps.log.error({ error: reasonOf(error) }, "a hook request failed");
      answers.refuse(call, internal);
    },
    json(call, status, body) {
      call.reply.code(status).header("content-type", jsonType).send(body);
    },
    empty(call) {
      call.reply.code(204).send();
    },
    reportInjection(hook, text) {
      const patterns = findInjection(text);
      if (patterns.length > 0)
        deps.log.warn({ hook, patterns }, "content of a hook seems to contain instructions to the model");
    },
  };
  return answers;
}

const explanationOf = ({ detail, path, hint }: SignatureProblem | NotTaken | BudgetProblem) => ({ detail, path, hint });

const isExplained = (problem: HttpProblem) =>
  problem instanceof SignatureProblem || problem instanceof NotTaken || problem instanceof BudgetProblem;

/**
 * Each failure of an unauthenticated client is logged at debug level only, because a flood of them must not fill the
 * log.
 */
function reportRefusal(
  deps: AnswerDeps & { readonly unauthorized: (refused: RefusedHook) => void },
  call: Call,
  problem: HttpProblem,
): void {
  const stranger = problem.status === 401 || problem.status === 429 || problem.code === "method_not_allowed";
  const refused: RefusedHook = {
    at: deps.now(),
    code: problem.code,
    status: problem.status,
    detail: problem.message,
    subPath: call.subPath.slice(0, 200),
    client: deps.clientAddress(call.request.raw),
    ...(isExplained(problem) ? explanationOf(problem) : {}),
  };
  deps.onRefused?.(refused);
  if (problem.code === "unauthorized" || problem.status === 429) deps.unauthorized(refused);
  const { code, status, detail, subPath, client } = refused;
  deps.log[stranger ? "debug" : "info"]({ code, status, detail, hook: subPath, client }, "a hook request was refused");
}
