/** A gateway for the time of `init`, unless one is running already. */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onEvent } from "../../listeners/listen.ts";
import type { RunningGateway } from "../running-gateway.ts";
import { type Setup, unfinished } from "./setup.ts";

const readyMs = 30_000;
const pollMs = 100;
const source = "the gateway";
/** A gateway that finishes its work takes `gateway.drainSeconds` at most. */
const endMs = 35_000;

/** Resolves when a gateway answers. One that this command has started ends with it. */
export async function runningGateway(setup: Setup): Promise<RunningGateway> {
  const { context } = setup;
  const running = await context.gateway();
  if (running !== null) return running;
  const [, script = ""] = process.argv;
  const { file } = context.configFile;
  const printed = join(await setup.scratch(), "gateway-errors");
  const output = openSync(printed, "w", 0o600);
  const child = spawn(process.execPath, [...process.execArgv, script, "gateway", "--config", file], {
    env: { ...context.env, NO_COLOR: "1" },
    stdio: ["ignore", "ignore", output],
  });
  closeSync(output);
  const ended = new Promise<void>((resolve) => onEvent(child, "close", { source, handle: () => resolve() }));
  let isEnded = false;
  void ended.then(() => {
    isEnded = true;
  });
  setup.gateways.defer(async () => {
    if (isEnded) return;
    child.kill("SIGTERM");
    const kill = setTimeout(() => child.kill("SIGKILL"), endMs);
    await ended.finally(() => clearTimeout(kill));
  });
  const until = context.now() + readyMs;
  while (context.now() < until && !isEnded) {
    const found = await context.gateway();
    if (found !== null && (await found.readiness()).ready) return found;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  const reason = /error: (.*)/.exec(readFileSync(printed, "utf8"))?.[1] ?? "it did not get ready in time";
  throw unfinished(
    `The gateway did not start: ${reason}`,
    "The configuration is written. Correct this, and run the command again.",
  );
}
