/** `stop`: makes the gateway finish or hand back its running turns, and end. */
import { HostError } from "../../contract/errors.ts";
import type { CommandContext } from "../context.ts";
import type { RunningGateway } from "../running-gateway.ts";
import { ask, untilEnded } from "./asking.ts";

/** Assumed if the gateway does not answer and its own value is unknown. */
const usualDrainSeconds = 30;

export async function stopGateway(
  context: CommandContext,
  _: readonly [],
  { json }: { readonly json?: boolean },
): Promise<number> {
  const directory = await context.stateDirectory();
  const gateway = await context.gateway();
  const drainSeconds = gateway === null ? undefined : await requestStop(gateway, directory);
  if (gateway === null || drainSeconds === undefined) {
    if (json === true) context.terminal.json({ stopped: false });
    else context.terminal.line(`No gateway is running on ${directory}.`);
    return 0;
  }
  await untilEnded(context, gateway, { drainSeconds, process: true });
  if (json === true) context.terminal.json({ stopped: true, pid: gateway.pid });
  else context.terminal.line(`The gateway has stopped (process ${gateway.pid}).`);
  return 0;
}

/** How long stopping may take, in seconds; `undefined` if the process with that id is not a gateway. */
async function requestStop(gateway: RunningGateway, directory: string): Promise<number | undefined> {
  try {
    const { drainSeconds } = (await ask(gateway, "stop")) as { readonly drainSeconds: number };
    return drainSeconds;
  } catch (error) {
    // A gateway that starts and waits for its database accepts no requests.
    const ends =
      error instanceof HostError && (error.code === "gateway_silent" || error.details.code === "unavailable");
    if (!ends) throw error;
  }
  // Either the process hangs or waits, or it was killed and its id belongs to another process. The lock shows which.
  const { lockHolder } = await import("../../state/lock.ts");
  const pid = lockHolder(directory);
  if (pid === undefined) return undefined;
  process.kill(pid, "SIGTERM");
  return usualDrainSeconds;
}
