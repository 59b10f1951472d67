/**
 * Handles a mapped request once its sender is known and its body has arrived: selects the mapping, stores its result,
 * and answers.
 */
import { type Json, type RawEvent, reasonOf } from "../../contract/index.ts";
import { HttpProblem } from "../../http/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { AcceptedEvent } from "../../state/index.ts";
import { chooseMapping, type Posted } from "../mapping/choose.ts";
import type { Mapping } from "../mapping/compiled-mapping.ts";
import { isMultipart } from "../mapping/multipart.ts";
import { type MappedDeps, type MappedRun, MappingFailure, type Plan, planRuns } from "../mapping/plan-runs.ts";
import {
  failureRecord,
  type Handed,
  injectionsIn,
  keepDelivery,
  keyAt,
  nothingRecord,
  runEvents,
  type Settled,
  type StoredAnswer,
  type StoredDelivery,
} from "../mapping/run-events.ts";
import { addressRefused } from "./checks.ts";
import { bodyFingerprint } from "./idempotency.ts";
import type { RunAnswer } from "./results.ts";
import { type BudgetOf, requireBudget } from "./run-budget.ts";

export interface AcceptInput {
  readonly event: RawEvent;
  readonly fingerprint?: string;
  readonly settled?: Settled;
}

export interface First {
  readonly eventId: string;
  readonly fingerprint?: string;
}

export interface MappedRequestDeps extends MappedDeps {
  /** Commits the event; only then is the request answered with success. Rejects if the event could not be stored. */
  readonly accept: (input: AcceptInput) => Promise<AcceptedEvent>;
  /** The first acceptance under a key. */
  readonly first: (dedupeKey: string) => Promise<First | null>;
  /** The stored body of an event. */
  readonly body: (eventId: string) => Promise<Json | null>;
  readonly budgetOf: BudgetOf;
  readonly now: () => number;
  /** A delivery was repeated and gets the first answer. `eventId` is its first event. */
  readonly onRepeated?: (eventId: string) => void;
  readonly log: Pick<PluginLog, "info" | "warn" | "error">;
}

export interface MappedRequest {
  readonly posted: Posted;
  /** Address of the client; absent if a plugin of this gateway submitted the delivery. */
  readonly client?: () => string;
  /** Absent if it came over HTTP. */
  readonly handed?: Handed;
  /** The mappings that may take it, in order. */
  readonly mappings: readonly Mapping[];
  /** Identifies repetitions. `compared`: the same key with another body is a conflict. */
  readonly identity?: { readonly key: string; readonly compared: boolean } | undefined;
  /** Called when the delivery was stored and is not a repetition. */
  readonly onNew?: () => void;
}

/** The answer to a success; `empty` is 204. */
export type MappedAnswer = RunAnswer | "empty";

export const conflict = new HttpProblem("idempotency_conflict", "This delivery id was used before, with another body.");
export const unavailable = new HttpProblem("unavailable", "The event could not be stored; send it again later.", {
  "retry-after": "5",
});

/** A failure that is already in the inbox, and must not be recorded again. */
export class RecordedProblem extends HttpProblem {}

/** There are mappings for the path, but none of them takes the request. `detail` says why, to the operator only. */
export class NotTaken extends HttpProblem {
  readonly detail: string;
  readonly path = "hooks.mappings";
  readonly hint = "Widen match of a mapping, or add a mapping for such requests.";

  constructor({ mappings, posted }: Pick<MappedRequest, "mappings" | "posted">) {
    super("not_found", "No mapping takes this request; the gateway's log says why.");
    const reasons: string[] = [];
    chooseMapping(mappings, posted, ({ id }, why) => reasons.push(`${id}: ${why}`));
    this.detail = `No mapping takes this request. ${reasons.join("; ")}`.slice(0, 1_000).toWellFormed();
  }
}

/** `undefined` if no mapping takes it. Throws `HttpProblem`. */
export async function answerMapped(request: MappedRequest, deps: MappedRequestDeps): Promise<MappedAnswer | undefined> {
  const repeated = request.identity === undefined ? undefined : await answerAgain(request, deps);
  if (repeated !== undefined) return repeated;
  const chosen = chooseMapping(request.mappings, request.posted);
  if (chosen === undefined) return undefined;
  const { mapping, delivery, kind } = chosen;
  if (request.client !== undefined && mapping.admits?.(request.client()) === false) throw addressRefused;
  const stored = keepDelivery(delivery, {
    body: request.posted.body,
    kind,
    mapping,
    handed: request.handed,
    isMultipart: isMultipart(request.posted.type["content-type"]),
  });
  let plan: Plan;
  try {
    plan = await planRuns(mapping, delivery, deps);
  } catch (error) {
    throw error instanceof MappingFailure ? await recordFailure(mapping, { failure: error, stored, deps }) : error;
  }
  // A delivery of a plugin has no sender who could send it again.
  if (request.handed === undefined) await requireBudget(agentsOf(plan, deps), deps);
  return plan.nothing === undefined
    ? acceptRuns(mapping, plan, { request, stored, deps })
    : acceptNothing(mapping, plan.nothing, { request, stored, deps });
}

/** The agents whose models the runs would call. */
function agentsOf({ runs }: Plan, { agents }: Pick<MappedRequestDeps, "agents">): readonly string[] {
  const named = runs.flatMap((run) =>
    run.action === "agent" && !run.deliverOnly ? (run.asked.request.agentId ?? agents.defaultId()) : [],
  );
  return [...new Set(named)];
}

/**
 * A repetition gets the first answer. Nothing is rendered and no transform runs again, so changes of the mapping do not
 * matter. `undefined` if the delivery is new, or the first attempt stored only a part of it.
 */
async function answerAgain(
  { identity, posted }: MappedRequest,
  deps: MappedRequestDeps,
): Promise<MappedAnswer | undefined> {
  const first = identity === undefined ? null : await deps.first(identity.key);
  if (identity === undefined || first === null) return undefined;
  if (identity.compared && first.fingerprint !== bodyFingerprint(posted.body)) throw conflict;
  const body = (await deps.body(first.eventId)) as { readonly answer?: StoredAnswer } | null;
  const answer = body?.answer;
  if (answer === undefined) return undefined;
  const others = await Promise.all(answer.runs.slice(1).map((_, index) => deps.first(keyAt(identity.key, index + 1))));
  const eventIds = [first, ...others].flatMap((one) => one?.eventId ?? []);
  if (eventIds.length < answer.runs.length) return undefined;
  deps.onRepeated?.(first.eventId);
  return renderAnswer(answer, eventIds);
}

interface Accepting {
  readonly request: MappedRequest;
  readonly stored: StoredDelivery;
  readonly deps: MappedRequestDeps;
}

async function acceptRuns(
  mapping: Mapping,
  { runs, views }: Plan,
  { request, stored, deps }: Accepting,
): Promise<MappedAnswer> {
  const patterns = injectionsIn(runs);
  if (patterns.length > 0)
    deps.log.warn({ hook: mapping.id, patterns }, "content of a hook seems to contain instructions to the model");
  logAbsent(mapping, runs, deps);
  const answer = answerOf(mapping, runs);
  const events = runEvents(mapping, runs, {
    stored,
    answer,
    views,
    dedupeKey: request.identity?.key,
    mainSession: `agent:${deps.agents.defaultId()}:main`,
    now: deps.now(),
  });
  const [single] = events;
  if (single !== undefined && events.length === 1) {
    return renderAnswer(answer, [(await accept({ event: single }, { request, deps })).eventId]);
  }
  const accepted = await acceptAll(events, { request, deps });
  return renderAnswer(
    answer,
    accepted.map(({ eventId }) => eventId),
  );
}

/** More names of one mapping are not logged: they may come from its template or from keys that a sender chooses. */
const mostLoggedNames = 50;

/** Logs once for each mapping and name that a template names a field which the payload does not have. */
function logAbsent(
  { id, loggedNames }: Mapping,
  runs: readonly MappedRun[],
  { log }: Pick<MappedRequestDeps, "log">,
): void {
  for (const { absent = [] } of runs)
    for (const { name, detail, path } of absent) {
      if (loggedNames.has(name) || loggedNames.size >= mostLoggedNames) continue;
      loggedNames.add(name);
      log.info({ hook: id, detail, path }, "a template names a field that the payload of this delivery does not have");
    }
}

/**
 * Stores all events in one flush. The first event of a delivery with a key is stored before the others: if it is a
 * conflict, nothing else is accepted; if an earlier attempt stored only that one, the others follow now.
 */
async function acceptAll(
  events: readonly RawEvent[],
  { request, deps }: Pick<Accepting, "request" | "deps">,
): Promise<readonly AcceptedEvent[]> {
  const put = (event: RawEvent) => accept({ event }, { request, deps });
  const [first, ...others] = events;
  if (request.identity === undefined || first === undefined) return Promise.all(events.map(put));
  return [await put(first), ...(await Promise.all(others.map(put)))];
}

async function accept(
  input: AcceptInput,
  { request, deps }: Pick<Accepting, "request" | "deps">,
): Promise<AcceptedEvent> {
  const compared = request.identity?.compared === true;
  let accepted: AcceptedEvent;
  try {
    accepted = await deps.accept(compared ? { ...input, fingerprint: bodyFingerprint(request.posted.body) } : input);
  } catch (error) {
    deps.log.error({ error: reasonOf(error) }, "a hook event could not be stored");
    throw unavailable;
  }
  if (compared && accepted.duplicate && accepted.sameFingerprint === false) throw conflict;
  if (accepted.duplicate) deps.onRepeated?.(accepted.eventId);
  else request.onNew?.();
  return accepted;
}

async function acceptNothing(
  mapping: Mapping,
  reason: NonNullable<Plan["nothing"]>,
  { request, stored, deps }: Accepting,
): Promise<MappedAnswer> {
  await accept(nothingRecord(mapping, { reason, stored, dedupeKey: request.identity?.key, now: deps.now() }), {
    request,
    deps,
  });
  return "empty";
}

async function recordFailure(
  mapping: Mapping,
  {
    failure,
    stored,
    deps,
  }: { readonly failure: MappingFailure; readonly stored: StoredDelivery; readonly deps: MappedRequestDeps },
): Promise<HttpProblem> {
  const { problem, path, hint, cause } = failure;
  const detail = cause === undefined ? problem.message : reasonOf(cause);
  const line = { hook: mapping.id, code: problem.code, status: problem.status, detail, path, hint };
  deps.log[problem.status >= 500 ? "warn" : "info"](line, "a hook delivery failed in its mapping");
  try {
    await deps.accept(failureRecord(mapping, { failure, detail, stored, now: deps.now() }));
  } catch (error) {
    // The sender is informed of the failure in any case.
    deps.log.error({ error: reasonOf(error) }, "a failed delivery could not be stored");
    return problem;
  }
  return new RecordedProblem(problem.code, problem.message, problem.headers);
}

function answerOf({ settings, forEach }: Mapping, runs: readonly MappedRun[]): StoredAnswer {
  const [first] = runs;
  const isRun = runs.map(({ action }) => action === "agent");
  return {
    status: settings.status ?? (isRun.includes(true) ? 202 : 200),
    ...(first?.action === "wake" ? { mode: first.wake.mode } : {}),
    runs: isRun,
    listed: forEach !== undefined,
  };
}

function renderAnswer({ status, mode, runs, listed }: StoredAnswer, eventIds: readonly string[]): MappedAnswer {
  // Also for a delivery that caused no run.
  if (status === 204) return "empty";
  const runIds = eventIds.filter((_, index) => runs[index] === true);
  const several = listed ? { ...(runIds.length > 0 ? { runIds } : {}), eventIds } : undefined;
  // `JSON.stringify` leaves out undefined values.
  const response = { ok: true, mode, runId: runIds[0], eventId: eventIds[0] };
  // A status that the mapping sets applies to both answers.
  return {
    status,
    body: JSON.stringify(several === undefined ? response : { ...response, ...several }),
    runIds,
    endedStatus: status === 202 ? 200 : status,
    several,
  };
}
