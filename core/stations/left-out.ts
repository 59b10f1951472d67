/** The log line about queued events that a turn left out. */

const line = "events were left out of a turn: more waited than one turn takes";
const hint = "Send fewer, or let heartbeats run more often (agents.defaults.heartbeat.every).";

export function logLeftOut(
  log: { warn(fields: object, message: string): void },
  at: { readonly event: string; readonly leftOut: number; readonly [key: string]: unknown },
): void {
  log.warn({ ...at, hint }, line);
}
