/** `service`: installs, removes and shows the gateway as a service of the operating system. */
import { chmodSync, existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { programCommand } from "../../contract/command.ts";
import { HostError } from "../../contract/errors.ts";
import { product } from "../../contract/product.ts";
import { makeDirectory, writeWhole } from "../../state/directory.ts";
import type { CommandContext } from "../context.ts";
import { writeEnvironment } from "./environment-file.ts";
import { type ServiceManager, serviceManager, show } from "./manager.ts";
import type { ServiceProgram } from "./service-file.ts";

interface Options {
  readonly json?: boolean;
  readonly print?: boolean;
  readonly follow?: boolean;
  readonly lines?: number;
}

interface Installed {
  readonly changed: boolean;
  readonly notes: readonly string[];
  /** Variables that were copied from this shell. */
  readonly variables: readonly string[];
}

const stateVariable = `${product.environmentPrefix}STATE_DIR`;

async function managerOf(context: CommandContext): Promise<{ manager: ServiceManager; program: ServiceProgram }> {
  const { env } = context;
  const configFile = context.configFile.file;
  const stateDirectory = await context.stateDirectory();
  const [, script = ""] = process.argv;
  const command = [process.execPath, resolve(script)];
  const named = env[stateVariable];
  const program: ServiceProgram = {
    ...{ command, configFile, stateDirectory },
    environmentFile: join(dirname(configFile), "environment"),
    variables: named === undefined ? {} : { [stateVariable]: named },
  };
  const uid = process.getuid?.();
  // A system's unit runs as the user to whom the configuration belongs, so that it can read the secrets beside it.
  const owner = uid === 0 ? statSync(configFile, { throwIfNoEntry: false })?.uid : uid;
  const ofState = statSync(stateDirectory, { throwIfNoEntry: false })?.uid ?? 0;
  if (uid === 0 && owner !== undefined && owner !== ofState)
    throw new HostError("service_refused", {
      what: "The service of the system",
      reason:
        `${configFile} and the state directory ${stateDirectory} belong to different users; run this as the user ` +
        "who is to run the gateway",
    });
  const isHome = (path: string) => /^\/(?:home|root|run\/user)\//.test(path);
  const system = {
    ...(owner !== undefined && owner !== 0 && { user: String(owner) }),
    writable: [...new Set([stateDirectory, dirname(configFile)])],
    usesHome: [...command, configFile, stateDirectory].some(isHome),
  };
  const manager = serviceManager({ env, platform: process.platform, uid, stateDirectory, system });
  return { manager, program };
}

export async function installService(context: CommandContext, _: readonly [], options: Options): Promise<number> {
  const { terminal, configFile } = context;
  const { manager, program } = await managerOf(context);
  if (options.print === true) {
    terminal.line(manager.render(program).trimEnd());
    return 0;
  }
  const { changed, notes, variables } = await install(context, { manager, program });
  if (options.json === true) {
    terminal.json({ kind: manager.kind, file: manager.file, changed, variables, notes });
    return 0;
  }
  const done = changed ? "is installed and runs" : "was installed already, and runs";
  terminal.line(`The service ${done} (${manager.kind}): ${manager.file}`);
  terminal.line(`It uses ${configFile.file}.`);
  if (variables.length > 0)
    terminal.line(
      `Copied from this shell to ${program.environmentFile}, which only you can read: ${variables.join(", ")}.`,
    );
  for (const note of notes) terminal.line(note);
  return 0;
}

async function install(
  context: CommandContext,
  { manager, program }: Awaited<ReturnType<typeof managerOf>>,
): Promise<Installed> {
  const { file } = context.configFile;
  if (!existsSync(file)) throw new HostError("config_missing", { file });
  const { running } = await manager.state();
  const other = running ? null : await context.gateway();
  // The service could not start beside it, and would try for ever.
  if (other !== null)
    throw new HostError("service_refused", {
      what: "The service was not installed",
      reason: `a gateway runs already (process ${other.pid}); stop it with \`${programCommand} stop\` first`,
    });
  const variables = await writeEnvironment(context, program.environmentFile);
  const text = manager.render(program);
  const before = existsSync(manager.file) ? readFileSync(manager.file, "utf8") : undefined;
  const changed = before !== text;
  if (changed) {
    makeDirectory(dirname(manager.file));
    writeWhole(manager.file, text);
    chmodSync(manager.file, manager.mode);
  }
  await manager.start({ changed: changed || variables.length > 0 });
  return { changed, variables, notes: await manager.notes() };
}

export async function uninstallService(context: CommandContext, _: readonly [], { json }: Options): Promise<number> {
  const { manager } = await managerOf(context);
  const isInstalled = existsSync(manager.file);
  if (isInstalled) {
    await manager.stop();
    rmSync(manager.file, { force: true });
    await manager.forget();
  }
  if (json === true) context.terminal.json({ kind: manager.kind, file: manager.file, changed: isInstalled });
  else
    context.terminal.line(
      isInstalled
        ? "The service was stopped and removed. Configuration and state stay."
        : "No service is installed, so there is nothing to remove.",
    );
  return 0;
}

export async function showService(context: CommandContext, _: readonly [], { json }: Options): Promise<number> {
  const { manager } = await managerOf(context);
  const { terminal } = context;
  const installed = existsSync(manager.file);
  const { enabled, running } = installed ? await manager.state() : { enabled: false, running: false };
  if (json === true) terminal.json({ kind: manager.kind, file: manager.file, installed, enabled, running });
  else if (!installed)
    terminal.line(`No service is installed (${manager.kind}). \`${programCommand} service install\` does it.`);
  else {
    terminal.table([
      [
        terminal.style("dim", "service"),
        running ? terminal.style("green", "running") : terminal.style("red", "not running"),
      ],
      [terminal.style("dim", "at boot"), enabled ? "yes" : "no"],
      [terminal.style("dim", "file"), `${manager.file} (${manager.kind})`],
    ]);
    terminal.line(
      running
        ? `\`${programCommand} console\` shows the gateway in a browser.`
        : `\`${programCommand} service logs\` shows why.`,
    );
  }
  return running ? 0 : 1;
}

export async function showServiceLogs(
  context: CommandContext,
  _: readonly [],
  { follow = false, lines = 100 }: Options,
): Promise<number> {
  const { manager } = await managerOf(context);
  if (manager.logs !== undefined) return show(context.env, manager.logs({ follow, lines }));
  const { showLogs } = await import("../logs.ts");
  return await showLogs(context, [], { follow, lines });
}
