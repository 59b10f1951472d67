/**
 * The hook table and its guard; the only importer of tapable.
 *
 * tapable does the dispatching; this table is the interface. The guard gives every tap an async wrapper (tapable's
 * promise would never settle if a tap threw synchronously), a deadline, and the name of its plugin.
 */
import { AsyncParallelHook, AsyncSeriesBailHook, AsyncSeriesWaterfallHook } from "tapable";
import {
  type Address,
  type Inbound,
  isOfState,
  type Part,
  type Receipt,
  type Refusal,
  type Reply,
  type Route,
  reasonOf,
  type Silent,
  type TurnEvent,
  type TurnRecord,
} from "../contract/index.ts";
import type { StoredEvent } from "../state/index.ts";
import { callbackOf, type Tap } from "./guarded-tap.ts";
import { type HookName, hookNames } from "./hook-names.ts";
import { replaced } from "./replaced.ts";
import { type RecentTaps, TapTimes, type TimedCall } from "./tap-times.ts";
import { carried, type Visit } from "./visit.ts";

/** The context of a reply at the formatting station. */
export interface FormattingContext {
  readonly inbound: Inbound;
  readonly route: Route;
  /**
   * The reply is the content of a preview. It is still growing and passes this station repeatedly until it is complete.
   */
  readonly preview?: true;
}

type Answer<T> = T | undefined | Promise<T | undefined>;

/**
 * The stations in path order. Uses property syntax, because methods would accept taps with too narrow a parameter.
 *
 * `undefined` always means "not mine"; `null` means "mine, and there is nothing to do".
 */
export interface HookTable {
  /**
   * First answer. `gathered` contains all events of the unit; `event` is the first of them. Without an answer:
   * `failed(no_ingress)`. A throw: `failed`.
   */
  readonly ingress: (event: StoredEvent, gathered: readonly StoredEvent[]) => Answer<Inbound | Silent | null>;
  /** First refusal; a tap cannot admit an event early. A throw or a late tap refuses. */
  readonly gating: (inbound: Inbound) => Answer<Refusal>;
  /** First answer. Without an answer: the default agent. A throw: `failed`. */
  readonly routing: (inbound: Inbound) => Answer<Route>;
  /**
   * First answer: a stream, or `null` (`{ silent }` with the reason) to stay silent. Without an answer:
   * `failed(no_engine)`. A throw: a short apology, `failed`.
   */
  readonly turn: (
    inbound: Inbound,
    route: Route,
    signal: AbortSignal,
  ) => Answer<AsyncIterable<TurnEvent> | Silent | null>;
  /**
   * Pipe: the next reply, or nothing to leave it unchanged. A throw: not sent, because the tap may be the one that
   * redacts.
   */
  readonly formatting: (reply: Reply, context: FormattingContext) => Answer<Reply>;
  /** First answer. Without an answer: `failed(no_channel)`. A throw: a retry if that is safe, else `failed`. */
  readonly delivery: (part: Part, address: Address, signal: AbortSignal) => Answer<Receipt>;
  /** Observers. A throw is logged; the other taps still run. */
  readonly settled: (record: TurnRecord) => void | Promise<void>;
}

type WithVisit<F> = F extends (...args: infer A) => infer R ? (...args: [...A, visit: Visit]) => R : never;

/** The stations as the gateway's own taps see them, with the visit. Plugins do not receive it. */
export type OwnHookTable = {
  readonly [N in keyof HookTable]: N extends "delivery" ? HookTable[N] : WithVisit<HookTable[N]>;
};

/**
 * Time limits of taps in milliseconds. For a turn, this is the time to return its stream; the agent's settings limit
 * how long the stream runs.
 */
export const hookDeadlines: Readonly<Record<HookName, number>> = {
  ingress: 10_000,
  gating: 10_000,
  routing: 10_000,
  turn: 30_000,
  formatting: 10_000,
  delivery: 120_000,
  settled: 10_000,
};

/** `early` runs before `normal`, `normal` before `late`. Taps of the same order run in order of registration. */
export type TapOrder = "early" | "normal" | "late";

const stages: Readonly<Record<TapOrder, number>> = { early: -1, normal: 0, late: 1 };

/** An answer and the plugin that gave it, for the decision record. */
export interface Answered<T> {
  readonly plugin: string;
  readonly value: T;
}

export interface TapInfo {
  readonly hook: HookName;
  readonly plugin: string;
  readonly order: TapOrder;
}

/** A tap of a plugin, as it is registered. */
export interface PluginTap<N extends HookName = HookName> {
  readonly hook: N;
  readonly fn: OwnHookTable[N];
  readonly order?: TapOrder;
}

export interface Hooks {
  tap<N extends HookName>(
    plugin: string,
    hook: N,
    fn: OwnHookTable[N],
    options?: { readonly order?: TapOrder; readonly deadlineMs?: number },
  ): void;
  ingress(
    event: StoredEvent,
    gathered: readonly StoredEvent[],
    visit: Visit,
  ): Promise<Answered<Inbound | Silent | null> | undefined>;
  gating(inbound: Inbound, visit: Visit): Promise<Answered<Refusal> | undefined>;
  routing(inbound: Inbound, visit: Visit): Promise<Answered<Route> | undefined>;
  turn(
    inbound: Inbound,
    route: Route,
    signal: AbortSignal,
    visit: Visit,
  ): Promise<Answered<AsyncIterable<TurnEvent> | Silent | null> | undefined>;
  formatting(reply: Reply, context: FormattingContext, visit: Visit): Promise<Reply>;
  /** Without a visit, as for what an earlier process left: the taps that are registered now. */
  delivery(part: Part, address: Address, signal: AbortSignal, visit?: Visit): Promise<Answered<Receipt> | undefined>;
  settled(record: TurnRecord, visit: Visit): Promise<void>;
  /**
   * Puts other taps in the place of those of a plugin. An event that is under way meets the taps that were registered
   * when its visit began.
   */
  replace(plugin: string, taps: readonly PluginTap[]): void;
  /** Calls `keep` with each visit when it begins, in the moment in which its taps are chosen. */
  onBegin(keep: (visit: Visit) => void): void;
  /** All taps in the order in which they run, for `plugins list`. */
  taps(): readonly TapInfo[];
  /** Measures how long a call into a plugin blocks the event loop. */
  readonly timed: TimedCall;
  /** The taps that have blocked the event loop since the last call. */
  lately(): RecentTaps;
}

/** A tapable hook for each station. tapable cannot remove a tap, so other taps need other hooks. */
function createEngines() {
  return Object.freeze({
    ingress: new AsyncSeriesBailHook<
      [StoredEvent, readonly StoredEvent[], Visit],
      Answered<Inbound | Silent | null> | undefined
    >(["event", "gathered", "visit"]),
    gating: new AsyncSeriesBailHook<[Inbound, Visit], Answered<Refusal> | undefined>(["inbound", "visit"]),
    routing: new AsyncSeriesBailHook<[Inbound, Visit], Answered<Route> | undefined>(["inbound", "visit"]),
    turn: new AsyncSeriesBailHook<
      [Inbound, Route, AbortSignal, Visit],
      Answered<AsyncIterable<TurnEvent> | null> | undefined
    >(["inbound", "route", "signal", "visit"]),
    formatting: new AsyncSeriesWaterfallHook<[Reply, FormattingContext, Visit], Reply>(["reply", "context", "visit"]),
    delivery: new AsyncSeriesBailHook<[Part, Address, AbortSignal], Answered<Receipt> | undefined>([
      "part",
      "address",
      "signal",
    ]),
    settled: new AsyncParallelHook<[TurnRecord, Visit]>(["record", "visit"]),
  } satisfies Record<HookName, unknown>);
}

type Engines = ReturnType<typeof createEngines>;

/** The taps that an event meets on its whole way. */
const metTaps = carried<Engines>("metTaps");

interface Registered extends TapInfo {
  readonly deadlineMs: number;
  readonly run: Tap["run"];
}

export function createHooks(options: { readonly onObserverError: (error: unknown, plugin: string) => void }): Hooks {
  let current = createEngines();
  let registered: readonly Registered[] = [];
  const keepers: ((visit: Visit) => void)[] = [];
  const times = new TapTimes();

  function judgeOf(hook: HookName, plugin: string): Tap["judge"] {
    switch (hook) {
      case "gating":
        return (done, error, answer) => {
          // Neither passed nor refused: the event waits until the state can be read.
          if (error !== null && isOfState(error)) done(error);
          else if (error !== null)
            done(null, {
              plugin,
              value: { code: "gate_failed", detail: reasonOf(error), hint: `Correct or disable the plugin ${plugin}.` },
            });
          else done(null, answer === undefined || answer === null ? undefined : { plugin, value: answer });
        };
      case "formatting":
        return (done, error, answer) => done(error, answer ?? undefined);
      case "settled":
        return (done, error) => {
          if (error !== null) options.onObserverError(error, plugin);
          done(null);
        };
      default:
        return (done, error, answer) => done(error, answer === undefined ? undefined : { plugin, value: answer });
    }
  }

  function add(engines: Engines, { hook, plugin, order, deadlineMs, run }: Registered): void {
    const engine = engines[hook] as unknown as {
      tapAsync(at: { name: string; stage: number }, fn: (...args: never[]) => void): void;
    };
    const tap = { plugin, hook, deadlineMs, run, judge: judgeOf(hook, plugin), times };
    engine.tapAsync({ name: plugin, stage: stages[order] }, callbackOf(tap));
  }

  function met(visit: Visit): Engines {
    const known = visit.get(metTaps);
    if (known !== undefined) return known;
    visit.set(metTaps, current);
    for (const keep of keepers) keep(visit);
    return current;
  }

  return {
    tap(plugin, hook, fn, { order = "normal", deadlineMs = hookDeadlines[hook] } = {}) {
      const tap = { plugin, hook, order, deadlineMs, run: fn as unknown as Tap["run"] };
      registered = [...registered, tap];
      add(current, tap);
    },
    replace(plugin, taps) {
      const fresh = taps.map(({ hook, fn, order = "normal" }) => {
        return { plugin, hook, order, deadlineMs: hookDeadlines[hook], run: fn as unknown as Tap["run"] };
      });
      registered = replaced(registered, (tap) => tap.plugin === plugin, fresh);
      current = createEngines();
      for (const tap of registered) add(current, tap);
    },
    onBegin: (keep) => void keepers.push(keep),
    ingress: (event, gathered, visit) => met(visit).ingress.promise(event, gathered, visit),
    gating: (inbound, visit) => met(visit).gating.promise(inbound, visit),
    routing: (inbound, visit) => met(visit).routing.promise(inbound, visit),
    turn: (inbound, route, signal, visit) => met(visit).turn.promise(inbound, route, signal, visit),
    formatting: (reply, context, visit) => met(visit).formatting.promise(reply, context, visit),
    delivery: (part, address, signal, visit) =>
      (visit === undefined ? current : met(visit)).delivery.promise(part, address, signal),
    settled: (record, visit) => met(visit).settled.promise(record, visit),
    timed: times.call,
    lately: () => times.take(),
    taps: () =>
      hookNames.flatMap((name) =>
        registered
          .filter((tap) => tap.hook === name)
          .sort((a, b) => stages[a.order] - stages[b.order])
          .map(({ hook, plugin, order }) => ({ hook, plugin, order })),
      ),
  };
}
