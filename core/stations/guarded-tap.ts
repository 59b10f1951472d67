/**
 * The guard of a tap: whatever its plugin does, it ends once, within its deadline, with an answer or with an error that
 * names the plugin. tapable's own promise would never settle if a tap threw synchronously.
 */
import { PluginError, reasonOf } from "../contract/index.ts";
import type { HookName } from "./hook-names.ts";
import type { TapTimes } from "./tap-times.ts";
import { isThenable } from "./thenable.ts";
import type { Visit } from "./visit.ts";

/** The callback that tapable passes to each tap after its arguments. */
export type Done = (error: Error | null, answer?: unknown) => void;

/**
 * A tap with its precomputed properties. A turn passes about a dozen taps, so running one creates no closures and no
 * lists.
 */
export interface Tap {
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
export function callbackOf(tap: Tap): (...args: never[]) => void {
  const own = tap.plugin === "core";
  switch (tap.hook) {
    case "settled":
    case "gating":
    case "routing":
      return (first: unknown, visit: Visit, done: Done) => runTap(tap, done, first, own ? visit : undefined);
    case "ingress":
    case "formatting":
      return (first: unknown, second: unknown, visit: Visit, done: Done) =>
        runTap(tap, done, first, second, own ? visit : undefined);
    case "delivery":
      return (first: unknown, second: unknown, third: unknown, done: Done) => runTap(tap, done, first, second, third);
    case "turn":
      return (first: unknown, second: unknown, third: unknown, visit: Visit, done: Done) =>
        runTap(tap, done, first, second, third, own ? visit : undefined);
  }
}
