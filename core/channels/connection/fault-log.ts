/** Logs what calls into a channel threw, without a line for each message. */
import { reasonOf } from "../../contract/index.ts";
import type { Log } from "../../log/index.ts";

const sameFaultMs = 60 * 60_000;

/** A plugin may fail in the same way with every message, so each kind of fault is logged as a warning once an hour. */
export function createFaultLog({
  log,
  plugin,
  now,
}: {
  readonly log: Log;
  readonly plugin: string;
  readonly now: () => number;
}) {
  const logged = new Map<string, number>();
  return (error: Error): void => {
    const message = reasonOf(error);
    const isNews = now() - (logged.get(message) ?? Number.NEGATIVE_INFINITY) >= sameFaultMs;
    if (isNews && logged.size > 100) logged.clear();
    if (isNews) logged.set(message, now());
    log[isNews ? "warn" : "debug"]({ plugin, error: message }, "a call into a plugin failed");
  };
}
