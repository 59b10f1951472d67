/** Makes a backup of each day: at the time that the configuration names, on one node, behind the work. */
import { reasonOf } from "../contract/index.ts";
import type { NightlyOptions } from "./nightly-run.ts";

const lookEveryMs = 60_000;

export interface NightlyBackups {
  close(): Promise<void>;
}

/** Looks each minute whether a backup is due, at the start too: one that was missed is made up for. */
export function startNightlyBackups(options: NightlyOptions): NightlyBackups {
  const { log } = options;
  const ending = new AbortController();
  let running: Promise<void> | undefined;
  const look = () => {
    if (running !== undefined || ending.signal.aborted) return;
    running = lookOnce(options, ending.signal)
      .catch((error: unknown) => log.error({ error: reasonOf(error) }, "the nightly backup failed"))
      .finally(() => {
        running = undefined;
      });
  };
  const timer = setInterval(look, lookEveryMs);
  timer.unref();
  look();
  return {
    async close() {
      clearInterval(timer);
      ending.abort(new Error("the gateway closes"));
      await running;
    },
  };
}

async function lookOnce(options: NightlyOptions, signal: AbortSignal): Promise<void> {
  if (options.loaded().config.state.backup === undefined) return;
  const { backUpIfDue } = await import("./nightly-run.ts");
  await backUpIfDue(options, signal);
}
