/** How long the core waits for code of a plugin, and what a call that fails, is late or returns something unusable becomes. */
import { ChannelError, EngineError, PluginError, reasonOf } from "../contract/index.ts";
import { isThenable } from "../stations/index.ts";

/**
 * Milliseconds for each call into a plugin. Taps have theirs in the hook table (`hookDeadlines`), a turn has `timeoutSeconds` of its agent.
 * The table in `README.md` says what a late call costs.
 */
export const pluginDeadlines = {
  load: 30_000,
  setup: 10_000,
  onReady: 10_000,
  onClose: 5_000,
  // No caller waits for it: a connection that takes longer is logged.
  start: 60_000,
  pause: 5_000,
  // A channel may let its sends end before it closes.
  close: 10_000,
  menu: 60_000,
  admit: 120_000,
  // A channel limits its own calls, an upload by minutes; to give up before it does would send the file a second time beside the first.
  send: 15 * 60_000,
  remove: 30_000,
  closePreview: 15_000,
  react: 60_000,
  typing: 30_000,
  resolve: 30_000,
  probe: 15_000,
  members: 15_000,
  findMedia: 30_000,
  // The host aborts the files of a message after five minutes.
  fetchMedia: 5 * 60_000 + 10_000,
  prepare: 60_000,
  describe: 35_000,
  command: 120_000,
  route: 120_000,
  cli: 120_000,
  device: 10_000,
  check: 10_000,
} as const;

/** After an abort, for work that has a signal: what does not listen is not waited for any longer. */
const abortGraceMs = 5_000;

/** Rejects with `late()` when the work takes longer. The work itself goes on; what becomes of it later is ignored. */
export async function withDeadline<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      work,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(late()), ms);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** A plugin, and what it was asked to do, such as `render of desk:default`. */
export interface Asked {
  readonly plugin: string;
  readonly doing: string;
}

/**
 * What a plugin threw, with its name. The platform's and the model's own errors stay what they are: their codes decide what happens next.
 */
export function pluginFault({ plugin, doing }: Asked, thrown: unknown): Error {
  if (thrown instanceof PluginError || thrown instanceof ChannelError || thrown instanceof EngineError) return thrown;
  return new PluginError("plugin_tap_failed", { plugin, hook: doing, reason: reasonOf(thrown) }, { cause: thrown });
}

/** A plugin returned something that cannot be used. */
export function unusable({ plugin, doing }: Asked, reason: string): PluginError {
  return new PluginError("plugin_answer_invalid", { plugin, hook: doing, reason });
}

/** A plugin did not answer in time. */
export function lateAnswer({ plugin, doing }: Asked, ms: number): PluginError {
  return new PluginError("plugin_tap_timeout", { plugin, hook: doing, seconds: ms / 1_000 });
}

/**
 * Calls a plugin: always a promise, rejected with the plugin's name when the call throws, rejects or is late. `signal`: the work is
 * aborted with it.
 */
export async function callPlugin<T>(
  asked: Asked,
  ms: number,
  call: () => T | PromiseLike<T>,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<T> {
  let abandon = () => {};
  let grace: NodeJS.Timeout | undefined;
  try {
    const work = Promise.resolve(call());
    if (signal === undefined) return await withDeadline(work, ms, () => lateAnswer(asked, ms));
    const aborted = new Promise<never>((_, reject) => {
      abandon = () => {
        grace = setTimeout(() => reject(lateAnswer(asked, abortGraceMs)), abortGraceMs);
      };
      if (signal.aborted) abandon();
      else signal.addEventListener("abort", abandon, { once: true });
    });
    return await withDeadline(Promise.race([work, aborted]), ms, () => lateAnswer(asked, ms));
  } catch (thrown) {
    throw pluginFault(asked, thrown);
  } finally {
    clearTimeout(grace);
    signal?.removeEventListener("abort", abandon);
  }
}

/** Calls a plugin that has to answer at once. A promise is not a valid answer; its rejection must be handled here. */
export function callAtOnce<T>(asked: Asked, call: () => T): T {
  let answer: T;
  try {
    answer = call();
  } catch (thrown) {
    throw namedFault(asked, thrown);
  }
  if (!isThenable(answer)) return answer;
  Promise.resolve(answer).catch(() => {});
  throw unusable(asked, "a promise, where it has to answer at once");
}

/** The same for a throw that no code of a platform decides about: what a pure function throws is its own mistake. */
function namedFault(asked: Asked, thrown: unknown): Error {
  if (thrown instanceof PluginError) return thrown;
  return new PluginError("plugin_tap_failed", { plugin: asked.plugin, hook: asked.doing, reason: reasonOf(thrown) }, { cause: thrown });
}
