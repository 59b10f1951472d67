/** `config`: reads, changes and checks the configuration file. */

import { unpricedProblems } from "../agents/spending/unpriced-models.ts";
import { nearestOf } from "../config/checking/suggest.ts";
import { editConfig } from "../config/editing/edit.ts";
import { parseConfigValue, showConfigValue } from "../config/editing/values.ts";
import { getPath } from "../config/path.ts";
import { type Problem, renderProblem } from "../config/problem.ts";
import { waitsForStart } from "../config/reading/at-start.ts";
import { readConfigText } from "../config/reading/file.ts";
import { type CheckedConfig, checkDamaged } from "../config/reading/load.ts";
import { locateState } from "../config/reading/locate.ts";
import { renderJsonSchema } from "../config/showing/json-schema.ts";
import { HostError, reasonOf } from "../contract/errors.ts";
import {
  accountProblems,
  channelDefinitions,
  channelsOf,
  optionProblems,
  sectionProblems,
  unknownChannels,
  unreadSections,
} from "../gateway/config-problems.ts";
import { hookProblems } from "../gateway/hook-problems.ts";
import { withMisnamed } from "../gateway/misnamed-channels.ts";
import { findStore } from "../host/find-store.ts";
import { isEmbedded } from "../stores/place.ts";
import type { Synced } from "../stores/shared-config.ts";
import type { CommandContext } from "./context.ts";
import {
  type Declared,
  declaredSchemas,
  loadDeclared,
  offSections,
  readDeclarations,
  readyPlugins,
} from "./plugins/declarations.ts";
import { isStateForbidden } from "./running-gateway.ts";

interface ConfigOptions {
  readonly json?: boolean;
}

export async function getConfig(
  context: CommandContext,
  [path = ""]: readonly [string | undefined],
  options: ConfigOptions,
): Promise<number> {
  await sync(context);
  const { loaded, declared } = await loadDeclared(context);
  const shown = showConfigValue(loaded.config, path, declaredSchemas(declared));
  if (options.json === true || (shown !== undefined && typeof shown !== "string")) context.terminal.json(shown ?? null);
  else if (shown === undefined) context.terminal.note(`${path} is not set.`);
  else context.terminal.line(shown);
  return 0;
}

export async function setConfig(
  context: CommandContext,
  [path, text]: readonly [string, string],
  options: ConfigOptions,
): Promise<number> {
  await sync(context);
  const { declared } = await loadDeclared(context);
  const value = parseConfigValue(path, text, declaredSchemas(declared));
  return await change(context, options, { path, value, declared, done: "is set", already: "already has this value" });
}

export async function unsetConfig(
  context: CommandContext,
  [path]: readonly [string],
  options: ConfigOptions,
): Promise<number> {
  await sync(context);
  const { declared } = await loadDeclared(context);
  const words = { done: "is removed; its default applies", already: "is not set in the file" };
  return await change(context, options, { path, value: undefined, declared, ...words });
}

async function change(
  context: CommandContext,
  { json }: ConfigOptions,
  wanted: {
    readonly path: string;
    readonly value: unknown;
    readonly declared: readonly Declared[];
    readonly done: string;
    readonly already: string;
  },
): Promise<number> {
  const { path, value, declared, done, already } = wanted;
  const { configFile, env, terminal, gateway } = context;
  const { changed, problems } = await editConfig(configFile.file, path, value, {
    env,
    schemas: declaredSchemas(declared),
    check: (config) => pluginProblems(declared, config, context),
  });
  if (changed) await sync(context);
  if (json === true) {
    terminal.json({ file: configFile.file, changed, problems });
    return 0;
  }
  terminal.line(`${path} ${changed ? done : already}.`);
  for (const problem of problems) terminal.note(renderProblem(problem));
  // Without a running gateway the next start reads the file anyway.
  if (changed && waitsForStart(path) && (await mayRun(gateway))) terminal.note("Takes effect after a restart.");
  return 0;
}

/** The configuration may belong to this user, and the state to another one. */
export async function mayRun(gateway: CommandContext["gateway"]): Promise<boolean> {
  try {
    return (await gateway()) !== null;
  } catch (error) {
    if (isStateForbidden(error)) return true;
    throw error;
  }
}

/** Makes the file equal to the configuration in the store, if it is kept there. */
export async function sync(context: CommandContext): Promise<void> {
  const { file } = context.configFile;
  if ((await context.load()).config.state.config !== "store") return;
  try {
    const { copy } = await syncWithStore(context, file);
    if (copy !== undefined)
      context.terminal.note(`Another node has changed the configuration. The former text of ${file} is in ${copy}.`);
  } catch (error) {
    context.terminal.note(
      `Only ${file} was used; a running gateway shares it with the other nodes later. ${reasonOf(error)}`,
    );
  }
}

async function syncWithStore(context: CommandContext, file: string): Promise<Synced> {
  const { createSharedConfig } = await import("../stores/shared-config.ts");
  const schemas = declaredSchemas((await loadDeclared(context)).declared);
  const store = await context.openState({ create: true });
  try {
    const stateDirectory = await context.stateDirectory();
    return await createSharedConfig({ store, file, stateDirectory, env: context.env, schemas: () => schemas }).sync();
  } finally {
    await store.close();
  }
}

export async function validateConfig(context: CommandContext, _: readonly [], options: ConfigOptions): Promise<number> {
  const { terminal } = context;
  const read = await loadDeclared(context).catch((thrown: unknown) => {
    if (!(thrown instanceof HostError)) throw thrown;
    return thrown;
  });
  if (read instanceof HostError) return await validateBroken(context, read, options);
  const { loaded, declared } = read;
  const problems = [...loaded.problems, ...(await pluginProblems(declared, loaded, context))];
  const wrong = problems.some((problem) => problem.severity === "error");
  if (options.json === true) terminal.json({ file: loaded.file, ok: !wrong, problems });
  else {
    for (const problem of problems) terminal.line(renderProblem(problem, loaded.file));
    if (problems.length === 0) {
      terminal.line(loaded.found ? `${loaded.file} is valid.` : `There is no ${loaded.file}; the defaults apply.`);
    }
  }
  return wrong ? 1 : 0;
}

/** After a syntax error the rest of the file is still checked, as far as it can be read. */
async function validateBroken(context: CommandContext, broken: HostError, { json }: ConfigOptions): Promise<number> {
  const { terminal, env, configFile } = context;
  const text = broken.code === "config_syntax" ? await readConfigText(configFile.file) : undefined;
  const problems =
    text === undefined ? undefined : await damagedProblems(context, { text, file: configFile.file, env });
  if (problems === undefined && json !== true) throw broken;
  const shown = problems ?? [unreadable(broken)];
  if (json === true) terminal.json({ file: configFile.file, ok: false, problems: shown });
  else for (const problem of shown) terminal.line(renderProblem(problem, configFile.file));
  return 1;
}

/** `undefined`: nothing can be read. */
async function damagedProblems(
  context: CommandContext,
  source: Parameters<typeof checkDamaged>[0],
): Promise<readonly Problem[] | undefined> {
  const damaged = checkDamaged(source);
  // Without the section of the plugins, the owners of the other options and channels are unknown.
  if (damaged === undefined || !damaged.isRead("plugins")) return damaged?.checked.problems;
  const stateDirectory = locateState({ ...damaged.checked, env: context.env, home: context.home });
  const declared = await readDeclarations(damaged.checked, stateDirectory, context.terminal);
  const { checked, isSound } = checkDamaged({ ...source, schemas: declaredSchemas(declared) }) ?? damaged;
  return [...checked.problems, ...(await pluginProblems(declared, checked, context)).filter(isSound)];
}

/** An unreadable file has a single problem, in the same form as the others. */
function unreadable({ message, hint, details: { line, column, reason } }: HostError): Problem {
  const place = typeof line === "number" && typeof column === "number" ? { line, column } : {};
  return {
    severity: "error",
    path: "",
    message: typeof reason === "string" ? reason : message.replace(/\.$/, ""),
    hint,
    ...place,
  };
}

export async function printSchema(context: CommandContext): Promise<number> {
  context.terminal.json(renderJsonSchema(declaredSchemas((await loadDeclared(context)).declared)));
  return 0;
}

/** Checks the parts of the file that are described by plugins' own schemas. */
export async function pluginProblems(
  declared: readonly Declared[],
  checked: CheckedConfig,
  { env, now }: Pick<CommandContext, "env" | "now">,
): Promise<readonly Problem[]> {
  const known = declared.map(({ id }) => id);
  const unknown = Object.keys(checked.checkable.plugins.entries).filter((id) => !known.includes(id));
  const own = declared.map(async ({ definition, state, reason, id, hint }): Promise<readonly Problem[]> => {
    if (definition === undefined) {
      const message = reason ?? `the plugin ${id} cannot be loaded`;
      return [{ severity: "error", path: "plugins.load", message, hint }];
    }
    // A plugin that is off because of an error is still checked.
    const enabled = getPath(checked.written, ["plugins", "entries", id, "enabled"]);
    if (state === "off" && (enabled === false || enabled === undefined)) return [];
    const accounts = definition.channel === undefined ? [] : await accountProblems(definition.channel, checked, env);
    return [
      ...optionProblems(definition, checked.checkable),
      ...(await sectionProblems(definition, checked, now)),
      ...accounts,
    ];
  });
  const ready = readyPlugins(declared);
  const found = [
    ...(await Promise.all(own)).flat(),
    ...storeProblems(checked),
    ...unreadSections(offSections(declared), checked),
    ...unknownChannels(checked.checkable, channelsOf(ready)),
    ...(await hookProblems(ready, checked, env)),
    ...(await unpricedProblems(checked.checkable)),
    ...unknown.map((id): Problem => {
      const nearest = nearestOf(id, known);
      const hint = nearest === undefined ? "Name its folder in plugins.load." : `Did you mean ${nearest}?`;
      return { severity: "warning", path: `plugins.entries.${id}`, message: "there is no such plugin", hint };
    }),
  ];
  return withMisnamed(checked.written, channelDefinitions(ready), found).map((problem) => ({
    ...checked.locate(problem.path),
    ...problem,
  }));
}

/** The plugin of the store is found by its name, so a wrong one is noticed without loading it. */
function storeProblems({ checkable: { state, plugins }, directory }: CheckedConfig): readonly Problem[] {
  if (isEmbedded(state)) return [];
  try {
    findStore(state.store, { load: plugins.load, configDirectory: directory });
    return [];
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const message = error.message.replace(/^state\.store: /, "").replace(/\.$/, "");
    return [{ severity: "error", path: "state.store", message, hint: error.hint }];
  }
}
