/** `plugins add`: installs a plugin beside the configuration, checks it, and then names it in `plugins.load`. */
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HostError, reasonOf } from "../../../contract/errors.ts";
import { namedPlugin } from "../../../host/find.ts";
import { onEvent } from "../../../listeners/listen.ts";
import type { PluginDefinition } from "../../../sdk/contract.ts";
import { mayRun, sync } from "../../config.ts";
import type { CommandContext } from "../../context.ts";
import { agrees } from "../../output/agree.ts";
import { createStop } from "../../output/stop.ts";
import { type Examined, examinePlugin } from "../check/examine.ts";
import { fails } from "../check/finding.ts";
import { endedProcess } from "../check/plugin-check.ts";
import { askRegistry, downloadPublished, type NpmPlace, refused, takeLocal } from "../package/fetch-package.ts";
import { checkManifest, installPackage } from "../package/install-package.ts";
import { type PackageSource, packageSource } from "../package/package-source.ts";
import type { Tarball } from "../package/tarball.ts";
import { checkNames, declaredBy } from "./declared-names.ts";
import { type Installs, openInstalls } from "./installs.ts";
import { loadByName } from "./load-list.ts";
import { showAdded, showFacts, showRefused } from "./show-plugin.ts";

interface Options {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** What the steps of one `plugins add` share. */
interface Adding {
  readonly context: CommandContext;
  readonly options: Options;
  readonly installs: Installs;
  readonly stage: string;
  readonly place: NpmPlace;
  /** Prints what a step is about, unless the output is for programs. */
  say(doing: string): void;
}

export async function addPlugin(context: CommandContext, [text]: readonly [string], options: Options): Promise<number> {
  const source = packageSource(text);
  // A configuration that cannot be read is an error before npm runs.
  await sync(context);
  const installs = openInstalls(dirname(resolve(context.configFile.file)));
  const stop = createStop();
  const stage = installs.stage();
  const say = (doing: string) => void (options.json !== true && context.terminal.note(`${doing} ...`));
  try {
    const place = { env: context.env, signal: stop.signal() };
    return await add(source, { context, options, installs, stage, place, say });
  } finally {
    stop.forget();
    rmSync(stage, { recursive: true, force: true, maxRetries: 3 });
    installs.close();
  }
}

async function add(source: PackageSource, adding: Adding): Promise<number> {
  const { context, options, installs, stage, place } = adding;
  const found = await bring(source, adding);
  const { name, version, from, tarball } = found;
  if (tarball === undefined) return await alreadyAdded(found, adding);
  checkManifest(tarball);
  adding.say(`Installing ${name} ${version}`);
  const facts = await installPackage(tarball, { directory: stage, ...place });
  const before = installs.plugins()[name]?.version;
  if (options.json !== true) showFacts(facts, { before, integrity: tarball.integrity }, context.terminal);
  if (options.dryRun === true) {
    if (options.json === true) context.terminal.json({ ok: true, changed: false, package: facts });
    else context.terminal.line("\nNothing was changed (--dry-run), and its code has not run.");
    return 0;
  }
  if (!(await agrees(`Run the code of ${name} with the rights of this user, and add it?`, options))) {
    context.terminal.line("Nothing was changed.");
    return 1;
  }
  adding.say(`Checking ${name} ${version}`);
  const { definition, checked, missing } = await examine(name, adding);
  if (definition === undefined || fails(checked.findings, false)) return showRefused(name, checked, options, context);
  if (place.signal?.aborted === true) throw new HostError("interrupted");
  installs.commit(name, stage, { version, integrity: tarball.integrity, from, declares: declaredBy(definition) });
  await loadByName(name, context).catch((error: unknown) => {
    if (before === undefined) installs.forget(name);
    throw error;
  });
  const running = await mayRun(context.gateway);
  // A gateway that runs may still read files of the version before.
  if (!running) installs.clean();
  showAdded({ facts, definition, checked, missing, before, integrity: tarball.integrity, running }, options, context);
  return 0;
}

interface Brought {
  readonly name: string;
  readonly version: string;
  readonly from: string;
  /** Absent if this version is installed already. */
  readonly tarball?: Tarball;
}

async function bring(source: PackageSource, { installs, stage, place, say }: Adding): Promise<Brought> {
  if (source.kind !== "registry") {
    say(`Reading ${source.path}`);
    const tarball = await takeLocal(source, { directory: stage, ...place });
    const { name, version } = tarball.manifest;
    const from = source.kind === "folder" ? "a folder" : source.path.replace(/^.*[\\/]/, "");
    const has = installs.plugins()[name]?.integrity === tarball.integrity && installs.isComplete(name);
    return has ? { name, version, from } : { name, version, from, tarball };
  }
  say(`Asking the registry for ${source.name}`);
  const published = await askRegistry(source, { directory: stage, ...place });
  const { name, version } = published;
  const had = installs.plugins()[name];
  const isSame = had?.version === version && had.from === "registry";
  if (isSame && published.integrity !== undefined && published.integrity !== had.integrity)
    throw refused(
      `${name}@${version}`,
      "the registry has another content under this version than when it was added (integrity mismatch)",
      "Ask its author what has happened. `plugins remove` removes the one that is installed.",
    );
  if (isSame && installs.isComplete(name)) return { name, version, from: "registry" };
  say(`Downloading ${name} ${version}`);
  const tarball = await downloadPublished(published, { directory: stage, ...place });
  return { name, version, from: "registry", tarball };
}

/** Completes what was broken off between the two files. */
async function alreadyAdded({ name, version }: Brought, { context, options }: Adding): Promise<number> {
  const { file } = context.configFile;
  const changed = await loadByName(name, context);
  if (options.json === true) context.terminal.json({ ok: true, changed, name, version, file });
  else if (changed) context.terminal.line(`${name} ${version} is in plugins.load of ${file} now.`);
  else context.terminal.line(`${name} ${version} is installed already; nothing was changed.`);
  return 0;
}

async function examine(name: string, { context, options, installs, stage }: Adding): Promise<Examined> {
  let file = "";
  try {
    // By its name, as a gateway finds it.
    ({ file } = namedPlugin(name, stage));
  } catch (error) {
    const { cause } = error as Error;
    throw refused(
      name,
      `it is not a plugin: ${reasonOf(cause ?? error)
        .replaceAll(stage, "")
        .replace(/\.$/, "")}`,
    );
  }
  const directory = join(stage, "check");
  mkdirSync(directory);
  // Without it, a plugin that calls `process.exit` would end the command as if it had been added.
  const stop = onEvent(process, "exit", {
    source: "the plugin",
    handle() {
      process.exitCode = showRefused(name, { findings: [endedProcess(file)] }, options, context);
      rmSync(stage, { recursive: true, force: true });
      installs.close();
    },
  });
  try {
    const accept = (definition: PluginDefinition) => checkNames({ definition, name }, context);
    return await examinePlugin(file, { reader: "user", accept, options: {}, directory, env: context.env });
  } finally {
    stop();
    rmSync(directory, { recursive: true, force: true });
  }
}
