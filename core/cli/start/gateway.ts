/** `gateway`: runs the gateway in the foreground until it is stopped. */
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConfigLocation } from "../../config/reading/locate.ts";
import type { GatewayConfig } from "../../config/schema.ts";
import { programCommand } from "../../contract/command.ts";
import { type HostError, reasonOf } from "../../contract/errors.ts";
import { readme } from "../../contract/package.ts";
import { createGateway, type Gateway, type GatewayOptions } from "../../gateway/gateway.ts";
import { onEvent } from "../../listeners/listen.ts";
import type { CommandContext } from "../context.ts";
import type { Terminal } from "../output/terminal.ts";
import { keepMemorySmall } from "./memory.ts";

const leftoverMs = 2_000;

export interface StartOptions {
  readonly acceptNewState?: boolean;
}

export async function runGateway(
  context: CommandContext,
  _: readonly [],
  { acceptNewState = false }: StartOptions,
): Promise<number> {
  const { configFile, env, home } = context;
  return await runUntilStopped(context.terminal, {
    options: { ...(configFile.named ? { configFile: configFile.file } : {}), environment: env, home, acceptNewState },
    announce: async (gateway, signal) => {
      const unsure = await firstAttempts(gateway, signal);
      if (signal.aborted) return;
      const look = hasConsole(gateway.config()) ? ` \`${programCommand} console\` shows it in a browser.` : "";
      context.terminal.note(`The gateway is ready at ${gateway.url} (process ${process.pid}).${look}`);
      for (const reason of unsure) context.terminal.note(`${reason}.`);
      for (const line of whatIsMissing(gateway.config(), configFile)) context.terminal.note(line);
    },
  });
}

const hasConsole = ({ plugins }: GatewayConfig): boolean => plugins.entries.console?.enabled !== false;

/** A platform that does not answer holds up the line that says that the gateway is ready, but not for long. */
const firstAttemptMs = 3_000;
const lookMs = 20;

/**
 * Waits until every channel account has connected or failed once, so that a script that waits for the line can write to
 * the bot. Resolves with the accounts that have done neither.
 */
export async function firstAttempts(
  gateway: Pick<Gateway, "readiness">,
  signal: AbortSignal,
  atMostMs: number = firstAttemptMs,
): Promise<readonly string[]> {
  for (let waited = 0; !gateway.readiness().tried && waited < atMostMs && !signal.aborted; waited += lookMs)
    await sleep(lookMs);
  const { tried, reasons } = gateway.readiness();
  return tried ? [] : reasons.filter((reason) => reason.endsWith(" is connecting"));
}

/** A gateway without channels and webhooks runs, but looks broken. */
function whatIsMissing({ channels, hooks }: GatewayConfig, { file }: ConfigLocation): readonly string[] {
  const open = Object.values(channels).some(({ enabled }) => enabled !== false) || hooks.enabled;
  if (open) return [];
  return [
    existsSync(file)
      ? `No channel and no webhook is enabled in ${file}, so nothing reaches this gateway yet.`
      : `There is no configuration: ${file} does not exist, so no channel and no webhook reaches this gateway yet.`,
    `For your own bot: ${programCommand} init`,
    `To try everything without an account: ${programCommand} dev (the manual is ${readme()})`,
  ];
}

/** Starts a gateway, and closes it at the first SIGINT or SIGTERM; the second one ends the process at once. */
export async function runUntilStopped(
  terminal: Terminal,
  {
    options,
    announce,
  }: {
    readonly options: GatewayOptions;
    /** `signal` aborts when the gateway is to stop. */
    readonly announce: (gateway: Gateway, signal: AbortSignal) => Promise<void>;
  },
): Promise<number> {
  const stopped = Promise.withResolvers<NodeJS.Signals | "stop" | "restart" | HostError>();
  const starting = new AbortController();
  let asked = false;
  let again = false;
  const onSignal = (signal: NodeJS.Signals) => {
    // Also while it closes for a restart: the sender of a signal wants it to end.
    again = false;
    if (asked) process.exit(128 + constants.signals[signal]);
    asked = true;
    starting.abort();
    stopped.resolve(signal);
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  const onAsked = (how: "stop" | "restart") => {
    // Not available on Windows.
    if (how === "restart" && process.execve === undefined) return false;
    again = how === "restart";
    stopped.resolve(how);
    return true;
  };
  let gateway: Gateway | undefined;
  // An unhandled rejection in a plugin does not stop the gateway; accepted events are on disk either way.
  const source = "this process";
  onEvent<readonly [unknown]>(process, "unhandledRejection", {
    source,
    handle(reason) {
      if (gateway === undefined) terminal.note(`error: Unhandled promise rejection: ${reasonOf(reason)}.`);
      else gateway.logStray(reason, { ending: false });
    },
  });
  // After an uncaught exception the state of the process is unknown: it ends, and its supervisor starts it again.
  onEvent<readonly [Error]>(process, "uncaughtExceptionMonitor", {
    source,
    handle: (error) => gateway?.logStray(error, { ending: true }),
  });

  try {
    const print = process.stdout.isTTY ? "human" : "json";
    gateway = await createGateway({ print, onLost: stopped.resolve, onAsked, signal: starting.signal, ...options });
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError" && starting.signal.aborted) return 0;
    throw error;
  }
  const up = new AbortController();
  const stopping = stopped.promise.finally(() => up.abort());
  await announce(gateway, up.signal);
  void keepMemorySmall(gateway, up.signal);
  const why = await stopping;
  if (typeof why !== "string") {
    terminal.error(why);
    // Exits at once, because the gateway that now owns the state would repeat whatever this one still did.
    process.exit(1);
  }
  terminal.note("Stopping: running work is finished or returned to the queue. Send the signal again to end at once.");
  await gateway.close();
  process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  // Keeps process id and terminal, so a supervisor does not notice an end.
  if (again)
    process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], process.env);
  // Everything is closed; a timer or socket that a plugin left open must not keep the process alive.
  setTimeout(() => process.exit(), leftoverMs).unref();
  return 0;
}
