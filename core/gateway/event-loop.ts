/**
 * Notices when the event loop was blocked, and names the plugin whose code was running: meanwhile the gateway received
 * nothing.
 */

import type { Log } from "../log/index.ts";
import type { Hooks, TapRun } from "../stations/index.ts";

const everyMs = 200;
const blockedMs = 1_000;
/** At most one line in this time: a plugin that blocks on each event must not fill the log. */
const quietMs = 60_000;

/** Uses a timer that measures its own delay. */
export function watchEventLoop({
  hooks,
  log,
  cleanup,
}: {
  readonly hooks: Pick<Hooks, "lately">;
  readonly log: Pick<Log, "warn">;
  readonly cleanup: AsyncDisposableStack;
}): void {
  let last = performance.now();
  let logged = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    const late = now - last - everyMs;
    last = now;
    const { longest, resumed, waiting } = hooks.lately();
    const ms = Math.round(Math.max(late, longest?.ms ?? 0));
    if (ms < blockedMs) return;
    if (now - logged < quietMs) {
      unlogged += 1;
      return;
    }
    const earlier = unlogged === 0 ? {} : { earlier: unlogged };
    logged = now;
    unlogged = 0;
    // A call that took at least half the time is the cause; others are candidates.
    if (longest !== undefined && longest.ms * 2 >= ms) {
      const { plugin, hook } = longest;
      log.warn(
        { ms, plugin, hook, ...earlier },
        `the event loop was blocked for ${seconds(ms)} by the plugin ${plugin} at ${hook}`,
      );
      return;
    }
    // The core's taps wait for calls into plugins, so the plugin is the better candidate.
    const first = resumed ?? waiting.find(({ plugin }) => plugin !== "core") ?? waiting[0];
    const named = first === undefined ? {} : first;
    const others =
      first === undefined
        ? "no code of a plugin was running: the machine may be busy"
        : `a tap of ${first.plugin} at ${first.hook} was running`;
    log.warn(
      { ms, ...named, ...listed(waiting, first), ...earlier },
      `the event loop was blocked for ${seconds(ms)}; ${others}`,
    );
  }, everyMs);
  timer.unref();
  cleanup.defer(() => clearInterval(timer));
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** The other pending taps, limited to what fits in a line. */
function listed(waiting: readonly TapRun[], first: TapRun | undefined): { readonly waiting?: readonly string[] } {
  const names = new Set(
    waiting.filter((tap) => tap.plugin !== first?.plugin).map(({ plugin, hook }) => `${plugin} at ${hook}`),
  );
  return names.size === 0 ? {} : { waiting: [...names].slice(0, 10) };
}
