/** One call of a channel's plugin: timed, within its deadline, and with an error that names the plugin and the call. */
import { PluginError } from "../contract/index.ts";
import { type Asked, callAtOnce, callPlugin, pluginDeadlines, pluginFault, unusable } from "../host/index.ts";
import type { ChannelConnection } from "../sdk/contract.ts";
import { isThenable, type TimedCall } from "../stations/index.ts";

export interface GuardOptions {
  readonly plugin: string;
  /** Channel and account, such as `desk:default`. */
  readonly name: string;
  /** A fault that does not end a call: the answer of the plugin was replaced by a safe one, or no caller waits for it. */
  readonly onFault: (error: Error) => void;
  /** The form in which ids of the channel compare; default: as they are. */
  readonly fold?: (id: string) => string;
  /** Whether the account reports that it waits for its platform; default: no. */
  readonly isWaiting?: () => boolean;
  /** Default: the calls are not timed. */
  readonly timed?: TimedCall;
}

export interface GuardedCalls {
  readonly onFault: GuardOptions["onFault"];
  asked(call: string): Asked;
  /** Most callers go on without what failed, and log nothing: a mistake of the plugin is in the log all the same. */
  noted(error: unknown): unknown;
  /** The call with its deadline and a check of what it resolves with; a failure is noted. */
  within<T>(
    call: keyof typeof pluginDeadlines & keyof ChannelConnection,
    run: () => T | PromiseLike<T>,
    more?: { readonly wrong?: (value: unknown) => string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<T>;
  /** The call with its deadline. */
  timely<T>(call: string, deadlineMs: number, run: () => T | PromiseLike<T>): Promise<T>;
  /** The call of what answers at once. */
  atOnce<T>(call: string, run: () => T): T;
  /** The call of what may answer at once or later. */
  started<T>(call: string, run: () => T): T;
  /** The call of what returns nothing: an async function may return nothing as well, and its rejection would be unhandled. */
  withoutAnswer(call: string, run: () => void): void;
}

export function createGuardedCalls({ plugin, name, onFault, timed = (_, call) => call() }: GuardOptions): GuardedCalls {
  const asked = (call: string): Asked => ({ plugin, doing: `${call} of ${name}` });
  const watched = <T>(call: string, run: () => T): T => timed({ plugin, hook: `${call} of ${name}` }, run);
  const noted = (error: unknown) => {
    if (error instanceof PluginError) onFault(error);
    return error;
  };
  const timely: GuardedCalls["timely"] = (call, deadlineMs, run) => callPlugin(asked(call), deadlineMs, () => watched(call, run));
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
        const value = await callPlugin(asked(call), pluginDeadlines[call], () => watched(call, run), { signal });
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
      if (isThenable(answer)) Promise.resolve(answer).catch((thrown: unknown) => onFault(pluginFault(asked(call), thrown)));
    },
  };
}
