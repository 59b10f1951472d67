/** `restart`: ends the gateway and starts it again in the same process, with the current configuration. */
import { setTimeout as wait } from "node:timers/promises";
import { HostError } from "../../contract/errors.ts";
import type { CommandContext } from "../context.ts";
import { isAlive, type RunningGateway } from "../running-gateway.ts";
import { ask, requireGateway, untilEnded } from "./asking.ts";

const lookEveryMs = 100;
/** Allows for a supervisor that starts a new process with another id. */
const mostMissingMs = 10_000;
const mostStartingMs = 60_000;
/** Accounts may still be connecting. */
const mostUnreadyMs = 15_000;

export async function restartGateway(
  context: CommandContext,
  _: readonly [],
  { json }: { readonly json?: boolean },
): Promise<number> {
  const before = await requireGateway(context);
  const { drainSeconds } = (await ask(before, "restart")) as { readonly drainSeconds: number };
  await untilEnded(context, before, { drainSeconds, process: false });
  const after = await untilBack(context, before);
  const { url, pid } = after;
  const { ready, reasons } = await after.readiness();
  if (json === true) context.terminal.json({ url, pid, ready, reasons });
  else {
    context.terminal.line(`The gateway is running again at ${url} (process ${pid}).`);
    for (const reason of reasons) context.terminal.line(reason);
  }
  return ready ? 0 : 1;
}

/** The restarted gateway, even if it does not become ready in time. */
async function untilBack(context: CommandContext, before: RunningGateway): Promise<RunningGateway> {
  const begun = context.now();
  let seen: number | undefined;
  for (;;) {
    const found = await context.gateway();
    const now = context.now();
    if (found !== null && found.startedAt !== before.startedAt) {
      seen ??= now;
      if (now - seen > mostUnreadyMs || (await found.readiness()).ready) return found;
    } else if (now - begun > (found === null && !isAlive(before.pid) ? mostMissingMs : mostStartingMs)) {
      throw new HostError("gateway_not_back");
    }
    await wait(lookEveryMs);
  }
}
