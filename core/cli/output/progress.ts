/** What a command waits for, where that takes longer than people expect. */
import { pluginDeadlines } from "../../host/deadline.ts";

/** Long enough that nearly every plugin, also one that is compiled for the first time, comes without a word. */
const progressAfterMs = 1_000;

/** Names the plugin that everything waits for, until its code is there or its time is up. */
export async function withProgress<Result>(
  plugin: string,
  work: Promise<Result>,
  note: (text: string) => void,
  ms: number = pluginDeadlines.load,
): Promise<Result> {
  const waiting = `Waiting for the code of the plugin ${plugin} (at most ${ms / 1_000} s) ...`;
  const progress = setTimeout(() => note(waiting), progressAfterMs);
  return await work.finally(() => clearTimeout(progress));
}
