/**
 * One line a minute about requests with a wrong or missing token, so that an operator sees them and a flood does not
 * fill the log.
 */
import type { PluginLog } from "../../sdk/contract.ts";
import type { RefusedHook } from "./refusals.ts";

const everyMs = 60_000;

export function createUnauthorizedLog(log: Pick<PluginLog, "warn">): (refused: RefusedHook) => void {
  let count = 0;
  let last: RefusedHook | undefined;
  let isResting = false;

  function report(): void {
    if (last === undefined) {
      isResting = false;
      return;
    }
    const { code, subPath, client } = last;
    log.warn({ code, count, hook: subPath, client }, "hook requests with a wrong or missing token were refused");
    count = 0;
    last = undefined;
    isResting = true;
    setTimeout(report, everyMs).unref();
  }

  return (refused) => {
    count += 1;
    last = refused;
    if (!isResting) report();
  };
}
