/**
 * The hook table and its guard; the only importer of tapable.
 *
 * tapable does the dispatching; this table is the interface. The guard gives every tap an async wrapper (tapable's promise would never
 * settle if a tap threw synchronously), a deadline, and the name of its plugin.
 */
import { AsyncParallelHook, AsyncSeriesBailHook, AsyncSeriesWaterfallHook } from "tapable";
import {
  type Address,
  type Inbound,
  type Part,
  PluginError,
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
import { type RecentTaps, TapTimes, type TimedCall } from "./tap-times.ts";
import { isThenable } from "./thenable.ts";
import type { Visit } from "./visit.ts";

/** The context of a reply at the formatting station. */
export interface FormattingContext {
  readonly inbound: Inbound;
  readonly route: Route;
  /** The reply is the content of a preview. It is still growing and passes this station repeatedly until it is complete. */
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
   * First answer. `gathered` contains all events of the unit; `event` is the first of them. Without an answer: `failed(no_ingress)`. A
   * throw: `failed`.
   */
  readonly ingress: (event: StoredEvent, gathered: readonly StoredEvent[]) => Answer<Inbound | Silent | null>;
  /** First refusal; a tap cannot admit an event early. A throw or a late tap refuses. */
  readonly gating: (inbound: Inbound) => Answer<Refusal>;
  /** First answer. Without an answer: the default agent. A throw: `failed`. */
  readonly routing: (inbound: Inbound) => Answer<Route>;
  /** First answer: a stream, or `null` (`{ silent }` with the reason) to stay silent. Without an answer: `failed(no_engine)`. A throw: a short apology, `failed`. */
  readonly turn: (inbound: Inbound, route: Route, signal: AbortSignal) => Answer<AsyncIterable<TurnEvent> | Silent | null>;
  /** Pipe: the next reply, or nothing to leave it unchanged. A throw: not sent, because the tap may be the one that redacts. */
  readonly formatting: (reply: Reply, context: FormattingContext) => Answer<Reply>;
  /** First answer. Without an answer: `failed(no_channel)`. A throw: a retry if that is safe, else `failed`. */
  readonly delivery: (part: Part, address: Address, signal: AbortSignal) => Answer<Receipt>;
  /** Observers. A throw is logged; the other taps still run. */
  readonly settled: (record: TurnRecord) => void | Promise<void>;
}

type WithVisit<F> = F extends (...args: infer A) => infer R ? (...args: [...A, visit: Visit]) => R : never;

/** The stations as the gateway's own taps see them, with the visit. Plugins do not receive it. */
export type OwnHookTable = { readonly [N in keyof HookTable]: N extends "delivery" | "settled" ? HookTable[N] : WithVisit<HookTable[N]> };

/** The name of a station that plugins can tap. */
export type HookName = keyof HookTable;

export const hookNames = [
  "ingress",
  "gating",
  "routing",
  "turn",
  "formatting",
  "delivery",
  "settled",
] as const satisfies readonly HookName[];

/**
 * Time limits of taps in milliseconds. For a turn, this is the time to return its stream; the agent's settings limit how long the stream
 * runs.
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

export interface Hooks {
  tap<N extends HookName>(
    plugin: string,
    hook: N,
    fn: OwnHookTable[N],
    options?: { readonly order?: TapOrder; readonly deadlineMs?: number },
  ): void;
  ingress(event: StoredEvent, gathered: readonly StoredEvent[], visit: Visit): Promise<Answered<Inbound | Silent | null> | undefined>;
  gating(inbound: Inbound, visit: Visit): Promise<Answered<Refusal> | undefined>;
  routing(inbound: Inbound, visit: Visit): Promise<Answered<Route> | undefined>;
  turn(
    inbound: Inbound,
    route: Route,
    signal: AbortSignal,
    visit: Visit,
  ): Promise<Answered<AsyncIterable<TurnEvent> | Silent | null> | undefined>;
  formatting(reply: Reply, context: FormattingContext, visit: Visit): Promise<Reply>;
  delivery(part: Part, address: Address, signal: AbortSignal): Promise<Answered<Receipt> | undefined>;
  settled(record: TurnRecord): Promise<void>;
  /** All taps in the order in which they run, for `plugins list`. */
  taps(): readonly TapInfo[];
  /** Measures how long a call into a plugin blocks the event loop. */
  readonly timed: TimedCall;
  /** The taps that have blocked the event loop since the last call. */
  lately(): RecentTaps;
}

/** The callback that tapable passes to each tap after its arguments. */
type Done = (error: Error | null, answer?: unknown) => void;

/** A tap with its precomputed properties. A turn passes about a dozen taps, so running one creates no closures and no lists. */
interface Tap {
  readonly plugin: string;
  readonly hook: HookName;
  readonly deadlineMs: number;
  readonly run: (...values: readonly unknown[]) => unknown;
  /** Handles an answer or failure; depends on the kind of the hook. */
  readonly judge: (done: Done, error: PluginError | null, answer?: unknown) => void;
  readonly times: TapTimes;
}

function failureOf({ plugin, hook }: Tap, thrown: unknown): PluginError {
  if (thrown instanceof PluginError) return thrown;
  return new PluginError("plugin_tap_failed", { plugin, hook, reason: reasonOf(thrown) }, { cause: thrown });
}

/** Runs one tap with its deadline. Failures become a `PluginError` that names the plugin and the hook. */
function runTap(tap: Tap, done: Done, first: unknown, second?: unknown, third?: unknown, fourth?: unknown): void {
  let result: unknown;
  const begun = performance.now();
  try {
    result = tap.run(first, second, third, fourth);
    tap.times.ran(tap, begun);
  } catch (thrown) {
    tap.times.ran(tap, begun);
    tap.judge(done, failureOf(tap, thrown));
    return;
  }
  if (isThenable(result)) wait(tap, done, result);
  else tap.judge(done, null, result);
}

/** A tap whose answer is pending. */
class Pending {
  readonly tap: Tap;
  readonly #done: Done;
  readonly #timer: NodeJS.Timeout;
  #open = true;

  constructor(tap: Tap, done: Done) {
    this.tap = tap;
    this.#done = done;
    this.#timer = setTimeout(late, tap.deadlineMs, this);
    tap.times.waiting.add(this);
  }

  end(error: PluginError | null, answer?: unknown): void {
    if (!this.#open) return;
    this.#open = false;
    clearTimeout(this.#timer);
    this.tap.times.ended(this);
    this.tap.judge(this.#done, error, answer);
  }
}

function late(pending: Pending): void {
  const { plugin, hook, deadlineMs } = pending.tap;
  pending.end(new PluginError("plugin_tap_timeout", { plugin, hook, seconds: deadlineMs / 1_000 }));
}

function wait(tap: Tap, done: Done, result: PromiseLike<unknown>): void {
  const pending = new Pending(tap, done);
  result.then(
    (answer) => pending.end(null, answer),
    (thrown: unknown) => pending.end(failureOf(tap, thrown)),
  );
}

/** The function that tapable calls. Only the gateway's own taps receive the visit. */
function callbackOf(tap: Tap): (...args: never[]) => void {
  const own = tap.plugin === "core";
  switch (tap.hook) {
    case "settled":
      return (first: unknown, done: Done) => runTap(tap, done, first);
    case "gating":
    case "routing":
      return (first: unknown, visit: Visit, done: Done) => runTap(tap, done, first, own ? visit : undefined);
    case "ingress":
    case "formatting":
      return (first: unknown, second: unknown, visit: Visit, done: Done) => runTap(tap, done, first, second, own ? visit : undefined);
    case "delivery":
      return (first: unknown, second: unknown, third: unknown, done: Done) => runTap(tap, done, first, second, third);
    case "turn":
      return (first: unknown, second: unknown, third: unknown, visit: Visit, done: Done) =>
        runTap(tap, done, first, second, third, own ? visit : undefined);
  }
}

export function createHooks(options: { readonly onObserverError: (error: unknown, plugin: string) => void }): Hooks {
  const engines = Object.freeze({
    ingress: new AsyncSeriesBailHook<[StoredEvent, readonly StoredEvent[], Visit], Answered<Inbound | Silent | null> | undefined>([
      "event",
      "gathered",
      "visit",
    ]),
    gating: new AsyncSeriesBailHook<[Inbound, Visit], Answered<Refusal> | undefined>(["inbound", "visit"]),
    routing: new AsyncSeriesBailHook<[Inbound, Visit], Answered<Route> | undefined>(["inbound", "visit"]),
    turn: new AsyncSeriesBailHook<[Inbound, Route, AbortSignal, Visit], Answered<AsyncIterable<TurnEvent> | null> | undefined>([
      "inbound",
      "route",
      "signal",
      "visit",
    ]),
    formatting: new AsyncSeriesWaterfallHook<[Reply, FormattingContext, Visit], Reply>(["reply", "context", "visit"]),
    delivery: new AsyncSeriesBailHook<[Part, Address, AbortSignal], Answered<Receipt> | undefined>(["part", "address", "signal"]),
    settled: new AsyncParallelHook<[TurnRecord]>(["record"]),
  } satisfies Record<HookName, unknown>);
  const registered: TapInfo[] = [];
  const times = new TapTimes();

  function judgeOf(hook: HookName, plugin: string): Tap["judge"] {
    switch (hook) {
      case "gating":
        return (done, error, answer) => {
          if (error !== null)
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

  return {
    tap(plugin, hook, fn, { order = "normal", deadlineMs = hookDeadlines[hook] } = {}) {
      const engine = engines[hook] as unknown as { tapAsync(at: { name: string; stage: number }, fn: (...args: never[]) => void): void };
      const run = fn as unknown as Tap["run"];
      engine.tapAsync(
        { name: plugin, stage: stages[order] },
        callbackOf({ plugin, hook, deadlineMs, run, judge: judgeOf(hook, plugin), times }),
      );
      registered.push({ hook, plugin, order });
    },
    ingress: (event, gathered, visit) => engines.ingress.promise(event, gathered, visit),
    gating: (inbound, visit) => engines.gating.promise(inbound, visit),
    routing: (inbound, visit) => engines.routing.promise(inbound, visit),
    turn: (inbound, route, signal, visit) => engines.turn.promise(inbound, route, signal, visit),
    formatting: (reply, context, visit) => engines.formatting.promise(reply, context, visit),
    delivery: (part, address, signal) => engines.delivery.promise(part, address, signal),
    settled: (record) => engines.settled.promise(record),
    timed: times.call,
    lately: () => times.take(),
    taps: () =>
      hookNames.flatMap((hook) => registered.filter((tap) => tap.hook === hook).sort((a, b) => stages[a.order] - stages[b.order])),
  };
}
