/** Sends a request such as `stop` to a running gateway, and waits until the gateway has ended. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { HostError } from "../../contract/errors.ts";
import type { CommandContext } from "../context.ts";
import { isAlive, type RunningGateway } from "../running-gateway.ts";

const lookEveryMs = 50;
const progressAfterMs = 1_000;
/** Time for closing connections, plugins and files, in addition to the time for running turns. */
const closingSeconds = 15;

/** Throws `gateway_not_running`. */
export async function requireGateway(context: CommandContext): Promise<RunningGateway> {
  const gateway = await context.gateway();
  if (gateway === null) throw new HostError("gateway_not_running", { directory: await context.stateDirectory() });
  return gateway;
}

/** Throws the gateway's reason for refusing, or `gateway_silent`. */
export async function ask(
  gateway: RunningGateway,
  path: string,
  { method = "POST", body }: { readonly method?: "GET" | "POST" | "DELETE"; readonly body?: object } = {},
): Promise<object> {
  const sent = body ?? (method === "POST" ? {} : undefined);
  const answer = await gateway.call(method, `/gateway/${path}`, { body: sent, patienceMs: 30_000 });
  if (answer === null) throw new HostError("gateway_silent", { url: gateway.url, reason: "it did not answer in time" });
  if (answer.ok) return answer.body as object;
  const {
    error = "it gave no reason",
    hint = "",
    code = "",
  } = answer.body as Readonly<Partial<Record<"error" | "hint" | "code", string>>>;
  throw new HostError("gateway_refused", { url: gateway.url, reason: error.replace(/\.$/, ""), fix: hint, code });
}

/**
 * Throws `gateway_still_runs`. With `process`, the state is free afterwards; without it, the process may continue as
 * the next gateway.
 */
export async function untilEnded(
  context: CommandContext,
  gateway: RunningGateway,
  { drainSeconds, process }: { readonly drainSeconds: number; readonly process: boolean },
): Promise<void> {
  const seconds = drainSeconds + closingSeconds;
  const until = context.now() + seconds * 1_000;
  const lockFile = join(await context.stateDirectory(), "lock.pid");
  const progress = setTimeout(
    () => context.terminal.note("Waiting for running work to be finished or returned to the queue ..."),
    progressAfterMs,
  );
  try {
    // The lock file is removed last; a killed process leaves its lock file behind.
    while ((await gateway.isThere()) || (process && existsSync(lockFile) && isAlive(gateway.pid))) {
      if (context.now() > until) throw new HostError("gateway_still_runs", { pid: gateway.pid, seconds });
      await wait(lookEveryMs);
    }
  } finally {
    clearTimeout(progress);
  }
}
