/** Deadlines for calls into plugins, and the errors for calls that fail, are late or return something unusable. */
import { ChannelError, EngineError, PluginError, reasonOf } from "../contract/index.ts";
import { isThenable } from "../stations/index.ts";

/**
 * Milliseconds for each call into a plugin. Taps have theirs in the hook table (`hookDeadlines`); a turn has its
 * agent's `timeoutSeconds`. The table in `README.md` lists the effect of a late call.
 */
export const pluginDeadlines = {
  load: 30_000,
  setup: 10_000,
  onReady: 10_000,
  onClose: 5_000,
  // No caller waits for these two: a connection that takes longer is logged.
  start: 60_000,
  standBy: 60_000,
  // Only in a worker; a synchronous call has no deadline.
  parse: 10_000,
  render: 10_000,
  // `check`, `signsInAs`, `fold` and `weak` of a channel.
  compute: 10_000,
  pause: 5_000,
  // Leaves a channel time to finish its sends before it closes.
  close: 10_000,
  menu: 60_000,
  admit: 120_000,
  // A channel limits its own calls, and an upload may take minutes. A shorter deadline here would send the file again
  // while the first upload continues.
  send: 15 * 60_000,
  remove: 30_000,
  closePreview: 15_000,
  react: 60_000,
  typing: 30_000,
  resolve: 30_000,
  reaches: 10_000,
  probe: 15_000,
  members: 15_000,
  findMedia: 30_000,
  // Longer than the five minutes after which the host aborts the files of a message.
  fetchMedia: 5 * 60_000 + 10_000,
  prepare: 60_000,
  offer: 6_000,
  describe: 35_000,
  // Longer than the longest `timeoutSeconds` of models.speech.
  transcribe: 15 * 60_000 + 10_000,
  speak: 15 * 60_000 + 10_000,
  skipped: 5_000,
  command: 120_000,
  route: 120_000,
  cli: 120_000,
  device: 10_000,
  check: 10_000,
} as const;

/** How long the host still waits, after an abort, for work that ignores its signal. */
const abortGraceMs = 5_000;

/** Rejects with `late()` if the work takes longer. The work itself continues, and its later result is ignored. */
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

/** A plugin and the call it received, such as `render of desk:default`. */
export interface Asked {
  readonly plugin: string;
  readonly doing: string;
}

/**
 * Attributes a thrown error to the plugin. Errors of the platform and of the model stay unchanged, because their codes
 * decide what happens next.
 */
export function pluginFault({ plugin, doing }: Asked, thrown: unknown): Error {
  if (thrown instanceof PluginError || thrown instanceof ChannelError || thrown instanceof EngineError) return thrown;
  return new PluginError("plugin_tap_failed", { plugin, hook: doing, reason: reasonOf(thrown) }, { cause: thrown });
}

/** The error for a plugin that returned something unusable. */
export function unusable({ plugin, doing }: Asked, reason: string): PluginError {
  return new PluginError("plugin_answer_invalid", { plugin, hook: doing, reason });
}

/** The error for a plugin that did not answer in time. */
export function lateAnswer({ plugin, doing }: Asked, ms: number): PluginError {
  return new PluginError("plugin_tap_timeout", { plugin, hook: doing, seconds: ms / 1_000 });
}

/**
 * Calls a plugin. Always returns a promise, which rejects with the plugin's name if the call throws, rejects or is
 * late. `signal` aborts the work.
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

/**
 * Calls a plugin that must answer synchronously. A promise is not a valid answer; its rejection must be handled here.
 */
export function callAtOnce<T>(asked: Asked, call: () => T): T {
  let answer: T;
  try {
    answer = call();
  } catch (thrown) {
    throw namedFault(asked, thrown);
  }
  if (!isThenable(answer)) return answer;
  Promise.resolve(answer).catch(() => {});
  throw unusable(asked, "a promise, but it must answer synchronously");
}

/** Attributes an error of a pure function to the plugin. Even a platform's error is the plugin's own mistake there. */
function namedFault(asked: Asked, thrown: unknown): Error {
  if (thrown instanceof PluginError) return thrown;
  return new PluginError(
    "plugin_tap_failed",
    { plugin: asked.plugin, hook: asked.doing, reason: reasonOf(thrown) },
    { cause: thrown },
  );
}
