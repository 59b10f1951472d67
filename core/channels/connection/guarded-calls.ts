/** Wraps calls to a channel's plugin: each is timed, has a deadline, and its errors name the plugin and the call. */
import { PluginError } from "../../contract/index.ts";
import { type Asked, callAtOnce, callPlugin, pluginDeadlines, pluginFault, unusable } from "../../host/index.ts";
import type { ChannelConnection } from "../../sdk/contract.ts";
import { isThenable, type TimedCall, type UnderWay } from "../../stations/index.ts";

export interface GuardOptions {
  readonly plugin: string;
  /** Channel and account, such as `desk:default`. */
  readonly name: string;
  /**
   * Receives faults that do not fail a call: an unusable answer was replaced by a safe one, or no caller waits for it.
   */
  readonly onFault: (error: Error) => void;
  /** The form in which ids of the channel compare; default: as they are. */
  readonly fold?: (id: string) => string | Promise<string>;
  /** Reads a command as people type it there; default: with `/`. */
  readonly readCommand?: (text: string) => string;
  /** Whether the account reports that it waits for its platform; default: no. */
  readonly isWaiting?: () => boolean;
  /** Default: the calls are not timed. */
  readonly timed?: TimedCall;
  /** Takes note of each call whose answer is awaited. */
  readonly underWay?: Pick<UnderWay, "add">;
}

export interface GuardedCalls {
  readonly onFault: GuardOptions["onFault"];
  asked(call: string): Asked;
  /** Logs a plugin's fault. Most callers continue without the failed call and log nothing themselves. */
  noted(error: unknown): unknown;
  /** Makes a call with its deadline and a check of its result; a failure is logged. */
  within<T>(
    call: keyof typeof pluginDeadlines & keyof ChannelConnection,
    run: () => T | PromiseLike<T>,
    more?: { readonly wrong?: (value: unknown) => string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<T>;
  /** Makes a call with its deadline. */
  timely<T>(call: string, deadlineMs: number, run: () => T | PromiseLike<T>): Promise<T>;
  /** Makes a synchronous call. */
  atOnce<T>(call: string, run: () => T): T;
  /** Makes a call that may return a value or a promise. */
  started<T>(call: string, run: () => T): T;
  /** Makes a call that returns nothing. If the plugin's function is async, its rejection is handled here. */
  withoutAnswer(call: string, run: () => void): void;
}

export function createGuardedCalls({
  plugin,
  name,
  onFault,
  timed = (_, call) => call(),
  underWay,
}: GuardOptions): GuardedCalls {
  const asked = (call: string): Asked => ({ plugin, doing: `${call} of ${name}` });
  const watched = <T>(call: string, run: () => T): T => timed({ plugin, hook: `${call} of ${name}` }, run);
  const noted = (error: unknown) => {
    if (error instanceof PluginError) onFault(error);
    return error;
  };
  const begun = <T>(answer: Promise<T>): Promise<T> => {
    underWay?.add(answer);
    return answer;
  };
  const timely: GuardedCalls["timely"] = (call, deadlineMs, run) =>
    begun(callPlugin(asked(call), deadlineMs, () => watched(call, run)));
  const started = <T>(call: string, run: () => T): T => {
    try {
      return watched(call, run);
    } catch (thrown) {
      throw pluginFault(asked(call), thrown);
    }
  };

  return {
    ...{ onFault, asked, noted, timely, started },
    async within(call, run, { wrong, signal } = {}) {
      try {
        const value = await begun(callPlugin(asked(call), pluginDeadlines[call], () => watched(call, run), { signal }));
        const problem = wrong?.(value);
        if (problem !== undefined) throw unusable(asked(call), problem);
        return value;
      } catch (error) {
        throw noted(error);
      }
    },
    atOnce: (call, run) => callAtOnce(asked(call), () => watched(call, run)),
    withoutAnswer(call, run) {
      const answer: unknown = started(call, run);
      if (isThenable(answer))
        Promise.resolve(answer).catch((thrown: unknown) => onFault(pluginFault(asked(call), thrown)));
    },
  };
}
