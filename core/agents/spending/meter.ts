/** Counts the model calls of one turn, and asks before each one whether there is room for it. */
import type { EngineTurn } from "../../sdk/contract.ts";
import type { ModelCall, TokenCounts } from "../../state/index.ts";
import type { AppliedLimit, Balance } from "./applied.ts";
import { usedOf } from "./applied.ts";
import type { Asker } from "./asker.ts";
import type { Limits, RunLimit } from "./limits.ts";
import type { Price } from "./prices.ts";
import { exceeded, runExceeded, unpriced } from "./wording.ts";

export type EngineSpending = NonNullable<EngineTurn["spending"]>;
type Announced = Parameters<EngineSpending["begin"]>[0];
type Used = NonNullable<Parameters<EngineSpending["end"]>[1]>;

/** Room for a reply whose length the engine does not limit. */
const usualReply = 2_048;
/** The least room that a closing sentence needs. */
const shortReply = 256;

export interface MeterOptions {
  readonly limits: Limits;
  readonly applied: () => Promise<readonly AppliedLimit[]>;
  /** `seconds`: the length of the sound of a call that has one. */
  readonly price: (model: string, tokens: TokenCounts, seconds?: number) => Promise<Price>;
  readonly reserve: (call: ModelCall, limits: readonly AppliedLimit[]) => Promise<Balance | null>;
  readonly record: (call: ModelCall, limits: readonly AppliedLimit[]) => Promise<void>;
  readonly release: (id: string) => Promise<void>;
  /** A call is over, and the ledger does not have its end. */
  readonly onLost: (model: string, error: unknown) => void;
  readonly onRefused: (balance: Balance, needed: number) => Promise<void>;
  readonly now: () => number;
  readonly newId: () => string;
}

export interface Meter {
  /** For the engine. */
  readonly spending: EngineSpending;
  /** Records what an engine reports that does not use `spending`. */
  reported(usage: Used & { readonly model: string }): void;
}

interface Open {
  readonly call: ModelCall;
  readonly limits: readonly AppliedLimit[];
  /** Tokens that the run has set aside for the call. */
  readonly held: number;
}

const nothing: TokenCounts = { inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

const count = (value: number | undefined): number =>
  value === undefined || !Number.isFinite(value) ? 0 : Math.max(0, Math.round(value));

/** Whatever an engine says: whole numbers that are not negative. */
function countsOf({ inputTokens, outputTokens, cacheRead, cacheWrite, reasoning }: Used): TokenCounts {
  return {
    inputTokens: count(inputTokens),
    outputTokens: count(outputTokens),
    cacheRead: count(cacheRead),
    cacheWrite: count(cacheWrite),
    reasoning: count(reasoning),
  };
}

/** What a run may still use: `last` if it is too little for another step. Throws `budget_run_exceeded`. */
function roomInRun(
  run: RunLimit | undefined,
  used: number,
  { inputTokens, outputTokens }: TokenCounts,
): { readonly last?: number } {
  if (run === undefined) return {};
  const left = run.tokens - used - inputTokens;
  if (left < shortReply) throw runExceeded(run, used);
  return left < outputTokens ? { last: left } : {};
}

export function createMeter(asker: Asker, options: MeterOptions): Meter {
  const { limits, applied, price, now, newId } = options;
  const open = new Map<string, Open>();
  let isUsed = false;
  /** By this run, with what its open calls have set aside. */
  let inRun = 0;

  const callOf = (model: string, tokens: TokenCounts, of: Price, estimated: boolean): ModelCall => {
    const { agentId, purpose, ...rest } = asker;
    return {
      id: newId(),
      at: now(),
      agentId,
      model,
      purpose,
      ...rest,
      ...tokens,
      usd: of.usd,
      priceSource: of.source,
      estimated,
    };
  };

  /** The limits in US dollars need a price. */
  const refuseUnpriced = (model: string, { usd }: Price, all: readonly AppliedLimit[]): void => {
    const limit = usd === null ? all.find(({ unit, refusesUnpriced }) => unit === "usd" && refusesUnpriced) : undefined;
    if (limit !== undefined) throw unpriced(model, limit);
  };

  async function begin({
    model,
    inputTokens,
    seconds,
    outputTokens = seconds === undefined ? usualReply : 0,
  }: Announced): Promise<{ readonly id: string; readonly last?: number }> {
    isUsed = true;
    const wanted = { ...nothing, inputTokens: count(inputTokens), outputTokens: count(outputTokens) };
    const room = roomInRun(limits.run, inRun, wanted);
    const tokens = { ...wanted, outputTokens: room.last ?? wanted.outputTokens };
    const held = tokens.inputTokens + tokens.outputTokens;
    // Set aside before anything is awaited, because an engine may make several calls at once.
    inRun += held;
    try {
      const concerned = await applied();
      const cost = await price(model, tokens, seconds);
      refuseUnpriced(model, cost, concerned);
      const call = callOf(model, tokens, cost, true);
      const refused = await reserve(call, concerned);
      if (refused !== null) {
        const needed = usedOf(refused.limit, { tokens: held, usd: cost.usd ?? 0 });
        void options.onRefused(refused, needed).catch(() => {});
        throw exceeded(refused, needed);
      }
      open.set(call.id, { call, limits: concerned, held });
      return { id: call.id, ...room };
    } catch (error) {
      inRun -= held;
      throw error;
    }
  }

  /**
   * A call that is cut off must be in the ledger, with or without a budget. Only a budget needs to know before it is
   * made.
   */
  async function reserve(call: ModelCall, concerned: readonly AppliedLimit[]): Promise<Balance | null> {
    if (concerned.length > 0) return await options.reserve(call, concerned);
    await options.reserve(call, concerned).catch((error: unknown) => options.onLost(call.model, error));
    return null;
  }

  async function end(id: string, used: Used | null): Promise<void> {
    const found = open.get(id);
    if (found === undefined) return;
    open.delete(id);
    // Engines do not wait for the end: a rejection would have no handler, and end the process while the gateway closes.
    await finish(id, found, used).catch((error: unknown) => options.onLost(found.call.model, error));
  }

  async function finish(id: string, { call, limits: concerned, held }: Open, used: Used | null): Promise<void> {
    inRun -= held;
    if (used === null) {
      await options.release(id);
      return;
    }
    const tokens = countsOf(used);
    inRun += tokens.inputTokens + tokens.outputTokens;
    const { usd, source } = await price(call.model, tokens, used.seconds);
    await options.record(
      { ...call, ...tokens, usd, priceSource: source, estimated: used.estimated === true },
      concerned,
    );
  }

  async function reported({ model, ...used }: Used & { readonly model: string }): Promise<void> {
    const tokens = countsOf(used);
    const cost = await price(model, tokens);
    await options.record(callOf(model, tokens, cost, used.estimated === true), await applied());
  }

  return {
    spending: { begin, end },
    reported(usage) {
      // An engine that announces its calls has already said what they used.
      // The tokens count even if the engine does not name a model.
      if (!isUsed) void reported({ ...usage, model: String(usage.model ?? "") }).catch(() => {});
    },
  };
}
