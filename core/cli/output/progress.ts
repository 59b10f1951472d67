/** Shows what a command is waiting for, if it takes longer than users expect. */
import { pluginDeadlines } from "../../host/deadline.ts";

/** Long enough that most plugins load without a message, even if they are compiled for the first time. */
const progressAfterMs = 1_000;

/** Names the plugin that the command is waiting for, until its code is loaded or its time is up. */
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
