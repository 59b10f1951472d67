/** Amounts, limits and refusals in words. */
import { EngineError } from "../../contract/index.ts";
import type { AppliedLimit, Balance } from "./applied.ts";
import type { Limit, RunLimit, Unit } from "./limits.ts";

/** The path of an event recognizes it. */
const budgetExceeded = "budget_exceeded";

export function renderUsd(usd: number): string {
  // Single calls cost less than a cent.
  return usd !== 0 && Math.abs(usd) < 0.1 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** `12,000`. Not by `Intl.NumberFormat`, whose data takes 8 MB of memory. */
export const renderTokens = (tokens: number): string => tokens.toFixed(0).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** An amount with its unit. */
export function renderAmount(amount: number, unit: Unit): string {
  return unit === "usd" ? renderUsd(amount) : `${renderTokens(amount)} tokens`;
}

/** `12,000 of 50,000 tokens`. */
export function renderShare(used: number, total: number, unit: Unit): string {
  return unit === "usd"
    ? `${renderUsd(used)} of ${renderUsd(total)}`
    : `${renderTokens(used)} of ${renderTokens(total)} tokens`;
}

export const periodWords = { day: "today", month: "this month" } as const;

function untilWhen({ span, timezone }: Pick<AppliedLimit, "span" | "timezone">): string {
  return new Intl.DateTimeFormat("en-GB", {
    ...{ day: "2-digit", month: "short", hour: "2-digit", minute: "2-digit", timeZoneName: "short" },
    ...(timezone === undefined ? {} : { timeZone: timezone }),
  }).format(span.end);
}

/** How an owner can raise a limit. */
export function raising({ path, period, unit }: Pick<Limit, "path" | "period" | "unit">): string {
  const amount = unit === "usd" ? "2" : "50000 tokens";
  return `Raise ${path}, or send /budget add ${amount} ${period === "day" ? "today" : "month"} as an owner.`;
}

/** The trace shows the setting that decided. */
const decidedBy = (path: string, error: EngineError): EngineError => Object.assign(error, { path });

/** A limit without room for a call, for the operator. */
export function usedUpText({ limit, used }: Balance): { readonly detail: string; readonly hint: string } {
  const share = `${renderShare(used, limit.total, limit.unit)} are used ${periodWords[limit.period]}`;
  return {
    detail: `${share}, which leaves no room for a call of a model; the limit is renewed at ${untilWhen(limit)}`,
    hint: limit.scope === "sender" ? `Raise ${limit.path}.` : raising(limit),
  };
}

/** A call that a limit refuses. `needed`: what the call would have added. */
export function exceeded({ limit, used }: Balance, needed: number): EngineError {
  const share = `${renderShare(used, limit.total, limit.unit)} are used ${periodWords[limit.period]}`;
  const more =
    needed > 0 && used < limit.total ? `, and the next call may need ${renderAmount(needed, limit.unit)}` : "";
  const error = new EngineError(budgetExceeded, {
    detail: `${limit.path}: ${share}${more}; the limit is renewed at ${untilWhen(limit)}`,
    hint: limit.scope === "sender" ? `Raise ${limit.path}.` : raising(limit),
  });
  return decidedBy(limit.path, error);
}

export function runExceeded({ path, tokens }: RunLimit, used: number): EngineError {
  const error = new EngineError("budget_run_exceeded", {
    detail:
      `${path}: ${renderShare(used, tokens, "tokens")} are used in this run, and the next call needs ` +
      "more than the rest",
    hint: `Ask for less at once, or raise ${path}.`,
  });
  return decidedBy(path, error);
}

export function unpriced(model: string, { path }: Limit): EngineError {
  const error = new EngineError("budget_unpriced", {
    detail: `${path} is set, and the price of ${model} is unknown`,
    hint: `Set models.prices["${model}"], with 0 if it costs nothing, or onUnpriced to "allow" beside that limit.`,
  });
  return decidedBy(path, error);
}

const whose = ({ scope, agentId }: Limit): string => (scope === "all" ? "all agents" : `the agent ${agentId}`);

/** For the owner: a limit is nearly or completely used. */
export function noticeOf({ limit, used }: Balance, isReached: boolean): string {
  const share = renderShare(used, limit.total, limit.unit);
  if (limit.scope === "sender") {
    return (
      `A person has reached the budget of each person: ${share} ${periodWords[limit.period]} ` +
      `(${limit.path}). Until ${untilWhen(limit)} that person gets no replies.`
    );
  }
  const percent = Math.floor((100 * used) / Math.max(limit.total, Number.MIN_VALUE));
  if (!isReached)
    return (
      `The budget of ${whose(limit)} is used to ${percent} %: ${share} ${periodWords[limit.period]} ` +
      `(${limit.path}).`
    );
  return (
    `The budget of ${whose(limit)} is used up: ${share} ${periodWords[limit.period]} (${limit.path}). ` +
    `Until ${untilWhen(limit)} no more models are called. ${raising(limit)}`
  );
}

/** For the owner: a call was refused that alone needs more than the rest. */
export function tooLargeNotice({ limit, used }: Balance, needed: number): string {
  const share = `${renderShare(used, limit.total, limit.unit)} are used ${periodWords[limit.period]}`;
  const how = limit.scope === "sender" ? `To allow it, raise ${limit.path}.` : raising(limit);
  return (
    `A model was not called: the call may need ${renderAmount(needed, limit.unit)}, and ${share} ` +
    `(${limit.path}). Smaller calls are still made. ${how}`
  );
}

/** For a person whose message gets no reply. */
export const refusal = {
  busy:
    "I am working on several requests, and one more could exceed what I may spend. Please send your " +
    "message again in a moment.",
  large:
    "Replying to this needs more than I may still spend. A shorter message may fit, or `/new`, which leaves out what " +
    "was said before. The owner of this bot can raise the limit.",
  sender: "I have used up what I may spend on your messages today. Please write again tomorrow.",
  day: "I have used up what I may spend today. Please write again tomorrow; the owner of this bot can raise the limit.",
  month: "I have used up what I may spend this month. The owner of this bot can raise the limit.",
} as const;

/** The same within the hour, where the message gets no reaction instead. */
export const shortRefusal = {
  large: "This needs more than I may still spend, too.",
  sender: "Nothing is left for today.",
  day: "Nothing is left for today.",
  month: "Nothing is left for this month.",
} as const;
