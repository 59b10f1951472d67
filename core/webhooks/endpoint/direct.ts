/** The endpoints `wake` and `agent`, which accept requests in the product's own format. */
import { type RawEvent, reasonOf } from "../../contract/index.ts";
import { parseJson } from "../../http/index.ts";
import type { AcceptedEvent } from "../../state/index.ts";
import { type AgentDeps, type AgentRequest, agentEvent, parseAgent } from "../runs/agent.ts";
import { readFields } from "../runs/fields.ts";
import { parseWake, type Wake, wakeEvent } from "../runs/wake.ts";
import { type AcceptInput, conflict, type First, unavailable } from "./answer-delivery.ts";
import type { Answers, Call } from "./answers.ts";
import type { Authenticate } from "./authenticate.ts";
import { bodyFingerprint, deliveryKey, namedDelivery } from "./idempotency.ts";
import type { AnswerRuns } from "./run-answer.ts";
import { type BudgetOf, requireBudget } from "./run-budget.ts";

export interface DirectDeps extends AgentDeps {
  readonly accept: (input: AcceptInput) => Promise<AcceptedEvent>;
  /** The first acceptance under a key. */
  readonly first: (dedupeKey: string) => Promise<First | null>;
  readonly budgetOf: BudgetOf;
  readonly now: () => number;
  readonly onRepeated?: (eventId: string) => void;
  readonly log: { error(fields: object, message: string): void };
  /** Answers once the runs were accepted. */
  readonly answerRuns: AnswerRuns;
  readonly authenticate: Pick<Authenticate, "presented" | "trusts">;
}

export interface Direct {
  /** Throws `HttpProblem` if the request can be refused at once. */
  wake(call: Call, body: Buffer): void;
  agent(call: Call, body: Buffer): void;
}

export function createDirect(deps: DirectDeps, answers: Answers): Direct {
  /**
   * The key of the request, scoped to its endpoint and token: with the previous token, a repetition stays one while
   * tokens rotate.
   */
  const dedupeKey = ({ request, subPath }: Call): string | undefined => {
    const name = namedDelivery(request.raw.headers);
    return name === undefined
      ? undefined
      : deliveryKey(name, { path: subPath, secret: () => deps.authenticate.presented(request.raw) ?? "" });
  };

  const store = (call: Call, event: RawEvent, body: Buffer, answer: (accepted: AcceptedEvent) => void): void => {
    const input = event.dedupeKey === undefined ? { event } : { event, fingerprint: bodyFingerprint(body) };
    deps.accept(input).then(
      (accepted) => {
        if (accepted.duplicate && accepted.sameFingerprint === false) return answers.refuse(call, conflict);
        if (accepted.duplicate) deps.onRepeated?.(accepted.eventId);
        answer(accepted);
      },
      (error: unknown) => {
        deps.log.error({ error: reasonOf(error) }, "a hook event could not be stored");
        answers.refuse(call, unavailable);
      },
    );
  };

  const answerRun = (call: Call, { eventId }: Pick<AcceptedEvent, "eventId">): void => {
    const now = `{"ok":true,"runId":"${eventId}","eventId":"${eventId}"}`;
    const trusted = () => deps.authenticate.trusts(call.request.raw);
    deps.answerRuns(call, { status: 202, body: now, runIds: [eventId], endedStatus: 200 }, trusted);
  };

  async function answerAgent(call: Call, body: Buffer): Promise<void> {
    const key = dedupeKey(call);
    let asked: AgentRequest;
    try {
      asked = await parseAgent(readFields(parseJson(body)), deps, { by: "request" });
      await requireBudget([asked.request.agentId ?? deps.agents.defaultId()], deps);
    } catch (error) {
      // The rules may have changed since the first delivery, which ran.
      const first = key === undefined ? null : await deps.first(key);
      if (first === null || first.fingerprint !== bodyFingerprint(body)) throw error;
      deps.onRepeated?.(first.eventId);
      return answerRun(call, first);
    }
    answers.reportInjection(asked.request.name, asked.message);
    store(call, agentEvent(asked, { dedupeKey: key }), body, (accepted) => answerRun(call, accepted));
  }

  return {
    wake(call, body) {
      const asked: Wake = parseWake(readFields(parseJson(body)));
      answers.reportInjection("wake", asked.text);
      const mainSession = `agent:${deps.agents.defaultId()}:main`;
      const event = wakeEvent(asked, { mainSession, now: deps.now(), dedupeKey: dedupeKey(call) });
      store(call, event, body, ({ eventId }) => {
        answers.json(call, 200, `{"ok":true,"mode":"${asked.mode}","eventId":"${eventId}"}`);
      });
    },
    agent(call, body) {
      answerAgent(call, body).catch((error: unknown) => answers.fail(call, error));
    },
  };
}
