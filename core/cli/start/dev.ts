/** `dev`: a gateway with the playground, the echo engine and hooks, ready to try. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join, resolve } from "node:path";
import { editConfig } from "../../config/editing/edit.ts";
import { getPath } from "../../config/path.ts";
import { loadConfig } from "../../config/reading/load.ts";
import { programCommand } from "../../contract/command.ts";
import { HostError } from "../../contract/errors.ts";
import { product } from "../../contract/product.ts";
import { checkListening } from "../../http/listening.ts";
import { lockState } from "../../state/lock.ts";
import { type CommandContext, devDirectory } from "../context.ts";
import { packageDirectory } from "../version.ts";
import { createDevPlugin, type DevPlugin } from "./dev-plugin.ts";
import { runUntilStopped, type StartOptions } from "./gateway.ts";
import { quoted, welcome } from "./welcome.ts";

interface DevOptions extends StartOptions {
  readonly config?: string;
  readonly state?: string;
  readonly port?: number;
  readonly pagePort?: number;
}

const stateVariable = `${product.environmentPrefix}STATE_DIR`;
const playgroundPort = "plugins.entries.playground.options.port";
const playgroundToken = "plugins.entries.playground.options.gatewayTokenFile";

export async function runDev(
  context: CommandContext,
  [folder]: readonly [string | undefined],
  options: DevOptions,
): Promise<number> {
  const plugin = folder === undefined ? undefined : createDevPlugin(folder, context);
  const stop = new AbortController();
  try {
    return await (options.config === undefined ? runPrepared : runConfigured)(context, options, plugin, stop.signal);
  } finally {
    stop.abort();
  }
}

/** With a configuration of the user's: nothing is written into it. */
async function runConfigured(
  { terminal, env, home, configFile }: CommandContext,
  options: DevOptions,
  plugin: DevPlugin | undefined,
  signal: AbortSignal,
): Promise<number> {
  if (plugin === undefined) {
    throw new HostError("usage", {
      reason: `dev has its own ${product.configFile} in its state directory; select that with --state`,
    });
  }
  if (options.port !== undefined || options.pagePort !== undefined)
    throw new HostError("usage", {
      reason: "--port and --page-port apply to dev's own configuration; set the ports in yours",
    });
  return await runUntilStopped(terminal, {
    options: {
      ...{ configFile: configFile.file, environment: env, home, print: "human", load: [plugin.path] },
      acceptNewState: options.acceptNewState ?? false,
    },
    announce: async (gateway) => {
      terminal.line(`The gateway is ready at ${gateway.url}.`);
      await plugin.follow(gateway, signal);
    },
  });
}

/** With the configuration that `dev` keeps. */
async function runPrepared(
  { terminal, env, home }: CommandContext,
  options: DevOptions,
  plugin: DevPlugin | undefined,
  signal: AbortSignal,
): Promise<number> {
  const directory = resolve(options.state ?? env[stateVariable] ?? devDirectory(home));
  const configFile = join(directory, product.configFile);
  const ownEnv = { ...env, [stateVariable]: directory };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // A gateway that runs on this state reads the same file: other ports in it would break its channel.
  lockState(directory).release();
  await prepare(directory, configFile, ownEnv);
  await setPorts(configFile, options, ownEnv);
  await checkPorts(configFile, ownEnv);
  if (plugin !== undefined) await addPlugin(configFile, plugin.path, ownEnv);
  return await runUntilStopped(terminal, {
    options: {
      configFile,
      environment: ownEnv,
      home,
      print: "human",
      acceptNewState: options.acceptNewState ?? false,
      ...(plugin && { load: [plugin.path] }),
    },
    announce: async (gateway) => {
      const { hooks, plugins, url } = await gateway.describe();
      const config = gateway.config();
      // A configuration that the user wrote may be without the playground.
      const port = getPath(config, playgroundPort);
      welcome(terminal, {
        ...(typeof port === "number" && { page: pageUrl(port) }),
        gateway: url,
        hooks: `${url}${hooks.path}`,
        channel: Object.keys(config.channels)[0] ?? "CHANNEL",
        directory,
        stateFlag: directory === devDirectory(home) ? "" : ` --state ${quoted(directory)}`,
        failures: plugins.flatMap(({ state, reason = "" }) => (state === "failed" ? [`${reason}.`] : [])),
      });
      await plugin?.follow(gateway, signal);
    },
  });
}

/** Existing files belong to the user and are kept. */
async function prepare(directory: string, configFile: string, env: CommandContext["env"]): Promise<void> {
  if (!existsSync(configFile)) {
    await copyFile(join(packageDirectory(), "examples", "dev", product.configFile), configFile);
    await chmod(configFile, 0o600);
    // A user who opens the page of their own gateway is its operator.
    await editConfig(configFile, playgroundToken, join(directory, "gateway-token"), { env });
  }
  const tokenFile = join(directory, "hook-token");
  if (!existsSync(tokenFile)) await writeFile(tokenFile, `${randomBytes(24).toString("base64url")}\n`, { mode: 0o600 });
}

/** Explicitly requested ports are written to the file, because the channel and the playground must agree on theirs. */
async function setPorts(configFile: string, { port, pagePort }: DevOptions, env: CommandContext["env"]): Promise<void> {
  if (port !== undefined) await editConfig(configFile, "gateway.port", port, { env });
  if (pagePort === undefined) return;
  const free = pagePort === 0 ? await freePort() : pagePort;
  await editConfig(configFile, playgroundPort, free, { env });
  const { config } = await loadConfig({ file: configFile, env });
  for (const channel of Object.keys(config.channels))
    await editConfig(configFile, ["channels", channel, "apiRoot"], pageUrl(free), { env });
}

/** If another program had the port of the page, `dev` would print the address of that program. */
async function checkPorts(configFile: string, env: CommandContext["env"]): Promise<void> {
  const { config } = await loadConfig({ file: configFile, env });
  const page = getPath(config, playgroundPort);
  const isOn = config.plugins.entries.playground?.enabled === true;
  const addresses = [
    { host: config.gateway.host, port: config.gateway.port, flag: "--port" },
    ...(isOn && typeof page === "number" ? [{ host: "127.0.0.1", port: page, flag: "--page-port" }] : []),
  ];
  for (const { flag, ...address } of addresses)
    await checkListening(address, `run \`${programCommand} dev ${flag} 0\`, which takes a free port`);
}

/** Written down as well, so that the commands beside this gateway know the plugin. */
async function addPlugin(configFile: string, plugin: string, env: CommandContext["env"]): Promise<void> {
  const { config } = await loadConfig({ file: configFile, env });
  if (config.plugins.load.includes(plugin)) return;
  await editConfig(configFile, "plugins.load", [...config.plugins.load, plugin], { env });
}

const pageUrl = (port: number) => `http://127.0.0.1:${port}`;

/** The channel needs the port before the playground listens on it. */
async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
