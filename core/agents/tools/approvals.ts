/** Asks an owner whether a tool may run, waits for the answer, and takes it. */
import { type Address, EngineError, type Inbound } from "../../contract/index.ts";
import type { PluginLog, ToolTurn } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";
import type { Visit } from "../../stations/index.ts";
import { type Closing, createClosing } from "./approval-closing.ts";
import { createCopies } from "./approval-copies.ts";
import { allowedText, overText } from "./approval-ends.ts";
import { createApprovalLimits, mostAnHour, mostOpen } from "./approval-limits.ts";
import { type ApprovalPlacesOptions, createApprovalPlaces } from "./approval-places.ts";
import { type ApprovalRequest, aboutOf, createApprovalRequests, type GrantHolder } from "./approval-requests.ts";
import { type AskedCall, answeredText, approvalQuestion, mostCharacters, writtenArguments } from "./approval-texts.ts";
import { countedAs, nameOf, type Person, personOf, shortName } from "./requester.ts";
import { createToolGrants } from "./tool-grants.ts";

const minutes = 10;
/** Of one turn: a model that keeps asking must not fill the owner's chat. */
const mostQuestions = 10;

export interface Verdict {
  readonly allowed: boolean;
  /** For the trace. */
  readonly code: "approval_allowed" | "approval_denied" | "approval_expired" | "approval_limited" | "approval_unasked";
  readonly detail: string;
}

/** A call that an owner is to be asked about. */
export interface CallToAllow extends AskedCall {
  /** Identifies the call, also in a turn that is run again. */
  readonly key: string;
  readonly turn: ToolTurn;
  /** What the turn has read beside its message. */
  readonly visit?: Visit;
  readonly signal: AbortSignal;
  /** Whether this run of the turn has asked the question with a key, and not only an earlier run. */
  hasAsked(key: string): boolean;
  /** Counts the questions of the turn. */
  readonly questions: { count: number };
  /** `agents.*.tools.approveAt`. */
  readonly place?: string;
}

export interface Approvals extends Pick<Closing, "began" | "isOpen" | "ended" | "mend"> {
  /** Waits for an owner's answer. Rejects with the signal's reason. */
  ask(call: CallToAllow): Promise<Verdict>;
  /** Takes an owner's answer. Resolves with the text for them; empty where the message of the request shows it. */
  answer(code: string, verdict: "once" | "session" | "deny", by: Inbound): Promise<string>;
  /** Takes the answer of an operator, who writes in no chat. `id` identifies the answer. */
  decide(
    code: string,
    verdict: "once" | "deny",
    by: { readonly name: string; readonly id: string },
  ): Promise<{ readonly ok: boolean; readonly text: string }>;
  /** The requests that wait for an answer. `written`: the arguments as an owner reads them. */
  waiting(): Promise<readonly (ApprovalRequest & { readonly written: string })[]>;
}

export interface ApprovalsOptions extends ApprovalPlacesOptions {
  readonly store: Pick<Store, "get" | "set" | "update" | "list" | "session" | "sentBy" | "findSent" | "event">;
  /**
   * Sends a text through the outbox; of two with one key, one. Resolves with the id of the event. `replaces`: the
   * message that it edits.
   */
  readonly say: (
    saying: {
      readonly address: Address;
      readonly text: string;
      readonly buttons?: ReturnType<typeof approvalQuestion>["buttons"];
      readonly replaces?: string;
      readonly about?: Person;
    },
    key: string,
  ) => Promise<string>;
  /** Ids of the owners of an account. */
  readonly owners: (at: Pick<Inbound, "channel" | "account">) => Promise<readonly string[]>;
  /** Whether another person can take the sender's id over. */
  readonly hasWeakId: (inbound: Inbound) => Promise<boolean>;
  /** Whether messages of the account can be edited. */
  readonly edits: (at: Pick<Address, "channel" | "account">) => boolean;
  readonly log: Pick<PluginLog, "info" | "warn">;
  readonly now: () => number;
}

const isSameChat = (one: Address, other: Address): boolean =>
  one.channel === other.channel && one.account === other.account && one.chat === other.chat;

export function createApprovals(options: ApprovalsOptions): Approvals {
  const { say, now, log } = options;
  const requests = createApprovalRequests(options);
  const grants = createToolGrants(options);
  const limits = createApprovalLimits(options);
  const places = createApprovalPlaces(options, limits);
  const { edits, store } = options;
  const sayQuestion = questionBy(say);
  const closing = createClosing({ ...{ requests, store, say, edits, log, now }, ask: sayQuestion, makeRoom });
  const copies = createCopies({ ...{ requests, store, say, edits }, question: questionOf });

  /**
   * Who may be allowed to call the tool until /new. Another person could take over an id that is weak, and the grant
   * with it.
   */
  async function holderOf({ turn: { inbound }, visit }: CallToAllow): Promise<GrantHolder | undefined> {
    const person = personOf(inbound, visit);
    return person === undefined || (await options.hasWeakId(inbound))
      ? undefined
      : { ...person, name: shortName(inbound) };
  }

  /** Who allowed the tool to the person of the turn. A grant ends with the right of the owner who gave it. */
  async function granted(holder: GrantHolder | undefined, { turn, ...call }: CallToAllow): Promise<string | undefined> {
    const grant = holder === undefined ? undefined : await grants.of(holder, turn.sessionKey, call);
    if (grant?.byOwner === undefined) return undefined;
    return (await options.owners(grant.byOwner)).includes(grant.byOwner.senderId) ? grant.by : undefined;
  }

  /** The request, or why none was opened. */
  async function open(
    { key, turn, place, visit: _visit, signal: _signal, hasAsked, questions, ...call }: CallToAllow,
    holder: GrantHolder | undefined,
  ): Promise<ApprovalRequest | Verdict> {
    questions.count += 1;
    await closing.replace(turn.inbound.id, { ...call, hasAsked });
    const all = await places.of(turn, place);
    if (all.length === 0) return verdictOf("approval_unasked", "no owner can be asked in this turn");
    const until = now() + minutes * 60_000;
    const requester = countedAs(turn.inbound);
    if (!(await limits.open(requester, { key, until })))
      return verdictOf(
        "approval_limited",
        `${mostOpen} questions of this requester already wait for an owner's answer`,
      );
    const at = await places.withRoom(all, key);
    if (at.length === 0) {
      await limits.close(requester, key);
      return verdictOf("approval_limited", `owners were already asked ${mostAnHour} times within an hour`);
    }
    const { sessionKey, inbound } = turn;
    const whose = { event: inbound.id, countedAs: requester, ...(holder && { holder }) };
    const opened = await requests.open(key, { call, ...whose, sessionKey, at, until });
    log.info(
      { tool: call.tool, plugin: call.plugin, agent: call.agentId, request: opened.code },
      "an owner is asked whether a tool may run",
    );
    return opened;
  }

  /** The requester may have another question open. */
  async function makeRoom(key: string, { countedAs }: ApprovalRequest): Promise<void> {
    if (countedAs !== undefined) await limits.close(countedAs, key);
  }

  async function close(key: string, ended: ApprovalRequest | null): Promise<ApprovalRequest | null> {
    if (ended !== null) await makeRoom(key, ended);
    return ended;
  }

  const end = async (key: string, how: Parameters<typeof requests.end>[1]) => close(key, await requests.end(key, how));

  async function send(request: ApprovalRequest, { key, turn: { to, inbound } }: CallToAllow): Promise<void> {
    const { code, call, at } = request;
    await requests.asked(key, await sayQuestion(request));
    if (to === null || inbound.authority !== "channel" || at.some((one) => isSameChat(one, to))) return;
    await say(
      { address: to, text: `I have asked for permission to use \`${call.tool}\`, and wait for the answer.` },
      `approval-wait:${code}`,
    );
  }

  async function expire(key: string): Promise<ApprovalRequest | null> {
    const ended = await end(key, { state: "expired" });
    if (ended?.state === "expired") await closing.show(key, ended);
    return ended;
  }

  async function wait(key: string, signal: AbortSignal): Promise<ApprovalRequest | null> {
    for (;;) {
      const request = await requests.read(key);
      if (request?.state !== "waiting") return await close(key, request);
      if (now() >= request.until) return await expire(key);
      if (await isUndelivered(store, request)) return await end(key, { state: "undelivered" });
      await requests.pause(key, request.until, signal);
      // A gateway that closes leaves the request open: the turn is run again, and finds it.
      if (signal.reason instanceof EngineError && signal.reason.reason === "stopped") {
        const ended = await end(key, { state: "withdrawn", why: "stopped" });
        if (ended?.state === "withdrawn") await closing.show(key, ended);
      }
      signal.throwIfAborted();
    }
  }

  /** The request of a code that can still be answered, or how it has ended. */
  async function current(key: string, request: ApprovalRequest): Promise<ApprovalRequest> {
    if (request.shown !== true && (await closing.endedEarlier(request))) return (await requests.read(key)) ?? request;
    // If the gateway did not run when the time was up, nothing has ended the request.
    return request.state === "waiting" && now() >= request.until ? ((await expire(key)) ?? request) : request;
  }

  return {
    ...{ began: closing.began, isOpen: closing.isOpen, ended: closing.ended, mend: closing.mend },
    async ask(call) {
      const { key, signal } = call;
      const holder = await holderOf(call);
      const by = await granted(holder, call);
      if (by !== undefined) return verdictOf("approval_allowed", `allowed until /new by ${by}`);
      if (writtenArguments(call).length > mostCharacters)
        return verdictOf("approval_unasked", "the arguments are too long to show them to an owner");
      const known = notWithdrawn(await requests.read(key));
      if (known === null && call.questions.count >= mostQuestions)
        return verdictOf("approval_unasked", `the turn has already asked an owner ${mostQuestions} times`);
      const request = known ?? (await open(call, holder));
      if ("allowed" in request) return request;
      if (request.state === "waiting" && request.events.length === 0) await send(request, call);
      const ended = await wait(key, signal);
      // Before the tool runs: the next call of the turn must find it.
      if (ended?.state === "allowed" && ended.lasting === true) await grants.give(ended);
      return verdictOn(ended);
    },
    async answer(code, verdict, by) {
      const key = await requests.keyOf(code);
      const request = key === undefined ? null : await requests.read(key);
      const isHere =
        request?.at.some(({ channel, account }) => channel === by.channel && account === by.account) === true;
      if (key === undefined || request === null || !isHere) return `There is no request ${code} here.`;
      const isOver = request.shown !== true && (await closing.endedEarlier(request));
      const current = isOver ? ((await requests.read(key)) ?? request) : request;
      const refused = await copies.refused(key, current, by);
      if (refused !== undefined) return refused;
      if (isOver) return overText(current);
      // If the gateway did not run when the time was up, nothing has ended the request.
      if (request.state === "waiting" && now() >= request.until) return overText((await expire(key)) ?? request);
      if (verdict === "session" && request.state === "waiting" && request.holder === undefined)
        return (
          `That call can be allowed once only, with \`/approve ${request.code}\`: a tool is allowed ` +
          "until /new to a person, for what that person writes."
        );
      const owner = nameOf(by);
      const state = verdict === "deny" ? "denied" : "allowed";
      const byOwner: Person = { channel: by.channel, account: by.account, senderId: by.sender.id };
      // The turn that waits closes the question: its reply must not overtake this one.
      const ended = await requests.end(key, {
        state,
        by: owner,
        byOwner,
        answer: by.id,
        ...(verdict === "session" && { lasting: true }),
      });
      if (ended?.answer !== by.id) return overText(ended ?? request);
      log.info({ tool: ended.call.tool, request: ended.code, verdict }, "an owner has answered whether a tool may run");
      const text = verdict === "deny" ? answeredText("Denied", owner) : allowedText(ended);
      // The message of the request says so when the call begins, which may be in another process.
      if (verdict === "deny") await closing.show(key, ended);
      return by.kind === "press" && options.edits(by) ? "" : text;
    },
    async decide(code, verdict, by) {
      const key = await requests.keyOf(code);
      const known = key === undefined ? null : await requests.read(key);
      if (key === undefined || known === null) return { ok: false, text: `There is no request ${code}.` };
      const request = await current(key, known);
      if (request.state !== "waiting") return { ok: false, text: overText(request) };
      const state = verdict === "deny" ? "denied" : "allowed";
      const ended = await requests.end(key, { state, by: by.name, answer: by.id });
      if (ended?.answer !== by.id) return { ok: false, text: overText(ended ?? request) };
      log.info(
        { tool: ended.call.tool, request: ended.code, verdict, by: by.name },
        "an operator has answered whether a tool may run",
      );
      if (verdict === "deny") await closing.show(key, ended);
      return { ok: true, text: verdict === "deny" ? answeredText("Denied", by.name) : allowedText(ended) };
    },
    async waiting() {
      const open = (await requests.all()).filter(({ state, until }) => state === "waiting" && now() < until);
      return open.map((request) => ({ ...request, written: writtenArguments(request.call) }));
    },
  };
}

/**
 * Sends a question, after a crash the same again: the outbox knows what it has already taken. Resolves with the events
 * that send it.
 */
function questionBy(say: ApprovalsOptions["say"]): (request: ApprovalRequest) => Promise<readonly string[]> {
  return (request) =>
    Promise.all(
      request.at.map((address, index) =>
        say({ address, ...questionOf(request), ...aboutOf(request) }, `approval:${request.code}:${index}`),
      ),
    );
}

const questionOf = ({ code, call, holder }: ApprovalRequest) =>
  approvalQuestion(code, call, { minutes, holder: holder?.name });

/**
 * No owner can be reached, such as people on a platform where they have to write to the bot first. A question whose
 * sends had an unknown outcome may be there, so it waits for an answer.
 */
async function isUndelivered(store: Pick<Store, "event">, { events }: ApprovalRequest): Promise<boolean> {
  const ends = await Promise.all(events.map((event) => store.event(event)));
  const isFailed = (end: (typeof ends)[number]) =>
    end?.state === "settled" && end.outcome === "failed" && end.reason !== "send_fate_unknown";
  return ends.length > 0 && ends.every(isFailed);
}

function verdictOn(ended: ApprovalRequest | null): Verdict {
  if (ended?.state === "allowed") return verdictOf("approval_allowed", `allowed by ${ended.by}`);
  if (ended?.state === "denied") return verdictOf("approval_denied", `denied by ${ended.by}`);
  if (ended?.state === "undelivered")
    return verdictOf("approval_unasked", "the question could not be delivered to an owner");
  return verdictOf("approval_expired", "there was no answer in time");
}

const verdictOf = (code: Verdict["code"], detail: string): Verdict => ({
  allowed: code === "approval_allowed",
  code,
  detail,
});

/** A request that was withdrawn is none: an event that an operator runs again asks again. */
const notWithdrawn = (request: ApprovalRequest | null): ApprovalRequest | null =>
  request?.state === "withdrawn" ? null : request;
