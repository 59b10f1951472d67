/** The last step of `init`, which may be skipped: the gateway as a service that starts at boot. */
import { existsSync } from "node:fs";
import { HostError } from "../../contract/errors.ts";
import type { Setup } from "./setup.ts";

/** Linux without systemd has supervisors of its own. */
const isSupported = (): boolean =>
  process.platform === "darwin" || process.platform === "win32" || existsSync("/run/systemd/system");

/** Resolves with whether the service runs. */
export async function offerBoot(setup: Setup): Promise<boolean> {
  const { ask, context, options, result } = setup;
  const isWanted = options.boot === true || (ask !== undefined && isSupported() && (await agrees(setup)));
  if (!isWanted) return false;
  // The service uses the same state.
  await setup.gateways.disposeAsync();
  const { installService } = await import("../service/run.ts");
  const line = (text = "") => setup.say(text, { sign: "good" });
  try {
    await installService({ ...context, terminal: { ...context.terminal, line, json() {} } }, [], {});
  } catch (error) {
    // What was written before is of use without the service.
    if (ask === undefined || !(error instanceof HostError)) throw error;
    setup.say(`${error.message} ${error.hint}`, { sign: "bad" });
    return false;
  }
  result.boot = true;
  return true;
}

async function agrees({ ask, title }: Setup): Promise<boolean> {
  title("At boot");
  return (await ask?.confirm("  Start the gateway now and at each boot?")) ?? false;
}
