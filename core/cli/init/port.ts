/** Another port for a new gateway if its own is in use, such as by the demo. */
import { getPath } from "../../config/path.ts";
import { HostError } from "../../contract/errors.ts";
import { checkListening } from "../../http/listening.ts";
import type { Setup } from "./setup.ts";

/** The port after it is that of the demo's page. */
const skipped = 2;
const tries = 50;

export async function wantPort(setup: Setup): Promise<void> {
  const { context, loaded } = setup;
  const { host, port } = loaded.config.gateway;
  // A port in the file was chosen by the operator; the start of the gateway reports what is wrong with it.
  if (getPath(loaded.written, ["gateway", "port"]) !== undefined || (await context.gateway()) !== null) return;
  if (await isFree(host, port)) return;
  for (let other = port + skipped; other < port + tries; other += 1) {
    if (!(await isFree(host, other))) continue;
    setup.want({
      path: ["gateway", "port"],
      value: other,
      comment: `Another program used port ${port}, which is the default.`,
    });
    setup.say(`Another program uses port ${port}, so this gateway gets port ${other}.`, { sign: "note" });
    return;
  }
}

async function isFree(host: string, port: number): Promise<boolean> {
  try {
    await checkListening({ host, port });
    return true;
  } catch (error) {
    return !(error instanceof HostError && error.code === "port_in_use");
  }
}
