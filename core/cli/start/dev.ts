/** `dev`: a gateway with the playground, the echo engine and hooks, ready to try. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join, resolve } from "node:path";
import { editConfig } from "../../config/editing/edit.ts";
import { getPath, parsePath, type Segment, setPath } from "../../config/path.ts";
import { type ConfigOverride, loadConfig } from "../../config/reading/load.ts";
import { programCommand } from "../../contract/command.ts";
import { HostError, reasonOf } from "../../contract/errors.ts";
import { packageDirectory } from "../../contract/package.ts";
import { product } from "../../contract/product.ts";
import { checkListening } from "../../http/listening.ts";
import { lockState } from "../../state/lock.ts";
import { type CommandContext, devDirectory, isDevelopmentDefault } from "../context.ts";
import { createDevPlugin, type DevPlugin } from "./dev-plugin.ts";
import { firstAttempts, runUntilStopped, type StartOptions } from "./gateway.ts";
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
    announce: async (gateway, stopping) => {
      const unsure = await firstAttempts(gateway, stopping);
      if (stopping.aborted) return;
      terminal.line(`The gateway is ready at ${gateway.url}.`);
      for (const reason of unsure) terminal.line(`${reason}.`);
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
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new HostError("state_unreadable", { directory, reason: reasonOf(cause) }, { cause });
  }
  // A gateway that runs on this state reads the same file: other ports in it would break its channel.
  lockState(directory).release();
  await prepare(directory, configFile, ownEnv);
  const override = await portsOf(options);
  await checkPorts(configFile, ownEnv, override);
  if (plugin !== undefined) await addPlugin(configFile, plugin.path, ownEnv);
  return await runUntilStopped(terminal, {
    options: {
      configFile,
      override,
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
        stateFlag:
          directory === devDirectory(home) && isDevelopmentDefault(home) ? "" : ` --state ${quoted(directory)}`,
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

/**
 * Ports of the command line hold for this process. The channels that use the playground find it at its other port.
 * `undefined`: the configuration decides.
 */
async function portsOf({ port, pagePort }: DevOptions): Promise<ConfigOverride | undefined> {
  if (port === undefined && pagePort === undefined) return undefined;
  const page = pagePort === 0 ? await freePort() : pagePort;
  return (written) => {
    const value = structuredClone(written);
    if (port !== undefined) setPath(value, ["gateway", "port"], port);
    const before = getPath(value, playgroundPort);
    if (page === undefined || typeof before !== "number") return value;
    setPath(value, parsePath(playgroundPort) ?? [], page);
    for (const at of channelsAt(value, pageUrl(before))) setPath(value, at, pageUrl(page));
    return value;
  };
}

/** Where channels and their accounts name this address of the platform. */
function channelsAt(value: unknown, url: string): readonly (readonly Segment[])[] {
  const keysOf = (at: readonly Segment[]) => Object.keys(Object(getPath(value, at)));
  const channels = keysOf(["channels"]).map((channel) => ["channels", channel]);
  const accounts = channels.flatMap((at) => keysOf([...at, "accounts"]).map((account) => [...at, "accounts", account]));
  return [...channels, ...accounts].map((at) => [...at, "apiRoot"]).filter((at) => getPath(value, at) === url);
}

/** If another program had the port of the page, `dev` would print the address of that program. */
async function checkPorts(
  configFile: string,
  env: CommandContext["env"],
  override: ConfigOverride | undefined,
): Promise<void> {
  const { config } = await loadConfig({ file: configFile, env, override });
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
