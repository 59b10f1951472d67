/** `gateway`: runs the gateway in the foreground until it is stopped. */
import { existsSync } from "node:fs";
import { constants } from "node:os";
import type { ConfigLocation } from "../../config/reading/locate.ts";
import type { GatewayConfig } from "../../config/schema.ts";
import { programCommand } from "../../contract/command.ts";
import { type HostError, reasonOf } from "../../contract/errors.ts";
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
    announce: (gateway) => {
      context.terminal.note(`The gateway is ready at ${gateway.url} (process ${process.pid}).`);
      for (const line of whatIsMissing(gateway.config(), configFile)) context.terminal.note(line);
    },
  });
}

/** A gateway without channels and webhooks runs, but looks broken. */
function whatIsMissing({ channels, hooks }: GatewayConfig, { file }: ConfigLocation): readonly string[] {
  const open = Object.values(channels).some(({ enabled }) => enabled !== false) || hooks.enabled;
  if (open) return [];
  return [
    existsSync(file)
      ? `No channel and no webhook is enabled in ${file}, so nothing reaches this gateway yet.`
      : `There is no configuration: ${file} does not exist, so no channel and no webhook reaches this gateway yet.`,
    `To try everything without an account: ${programCommand} dev`,
    "For your own bot, add a channel to that file; it takes effect at once. README.md contains a complete " +
      `example, and ${programCommand} config validate checks it.`,
  ];
}

/** Starts a gateway, and closes it at the first SIGINT or SIGTERM; the second one ends the process at once. */
export async function runUntilStopped(
  terminal: Terminal,
  {
    options,
    announce,
  }: { readonly options: GatewayOptions; readonly announce: (gateway: Gateway) => void | Promise<void> },
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
  await announce(gateway);
  const up = new AbortController();
  void keepMemorySmall(gateway, up.signal);
  const why = await stopped.promise;
  up.abort();
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
