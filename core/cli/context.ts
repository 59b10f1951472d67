/** The context of a command: its configuration, its state, and the gateway that may be running on it. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type Glance, glanceAt } from "../config/reading/glance.ts";
import type { LoadedConfig } from "../config/reading/load.ts";
import { type ConfigLocation, locateConfig, locateState, namedState } from "../config/reading/locate.ts";
import { HostError } from "../contract/errors.ts";
import { product } from "../contract/product.ts";
import type { StoreCommands, StoreFinding } from "../sdk/store.ts";
import type { Store } from "../state/store.ts";
import type { StateOptions } from "../stores/options.ts";
import type { StatePlace } from "../stores/place.ts";
import type { Terminal } from "./output/terminal.ts";
import { findGateway, type RunningGateway, requireAccess, runningConfigFile } from "./running-gateway.ts";

export interface CommandContext {
  readonly terminal: Terminal;
  /** The environment, overridden by the flags. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly home: string;
  /** The configuration file. Unless it was named explicitly, it may not exist. */
  readonly configFile: ConfigLocation;
  /** What can be read from the file without validating it, even if it is damaged. */
  glance(): Promise<Glance>;
  /** The effective configuration: the file, or the defaults if there is none. */
  load(): Promise<LoadedConfig>;
  stateDirectory(): Promise<string>;
  /** Where the state is: the state directory and the store. */
  place(): Promise<StatePlace>;
  /**
   * Whether a gateway has ever run on this state. A database that a store's plugin opens counts as used. Throws
   * `state_forbidden`, as `gateway` does, if the state directory belongs to another user.
   */
  hasState(): Promise<boolean>;
  /**
   * Opens the state, even if a gateway is running on it. Throws `state_missing` if no gateway has ever run there,
   * unless `create` is true.
   */
  openState(options?: { readonly create?: boolean }): Promise<Store>;
  /** Opens the state at another place, or this one as its owner, which holds the lock of the state directory. */
  openStateAt(place: StatePlace, options: { readonly owner: boolean }): Promise<Store>;
  /** What the store's own check finds; the embedded store has none. */
  checkStore(): Promise<readonly StoreFinding[]>;
  /** The commands that copy the database of a store and restore it; `undefined` if the store does not say. */
  backupHelp(): Promise<StoreCommands | undefined>;
  /** The gateway that is running on this state, if any. */
  gateway(): Promise<RunningGateway | null>;
}

export interface ContextOptions {
  readonly terminal: Terminal;
  /** `--config` and `--state`. */
  readonly config: string | undefined;
  readonly state: string | undefined;
  /** True if the command looks at a running gateway and does not start one. */
  readonly looks: boolean;
  /** True if the command writes the configuration file, so that a named one may not exist yet. */
  readonly creates?: boolean;
}

const configVariable = `${product.environmentPrefix}CONFIG`;
const stateVariable = `${product.environmentPrefix}STATE_DIR`;

/** Where `dev` keeps its state by default. */
export const devDirectory = (home: string): string => join(home, product.homeDirectory, "dev");

export function createContext({ terminal, config, state, looks, creates = false }: ContextOptions): CommandContext {
  const home = homedir();
  const directory = state ?? (looks ? developmentState({ terminal, home, config }) : undefined);
  const env = directory === undefined ? process.env : { ...process.env, [stateVariable]: resolve(directory) };
  const found = locateConfig({ ...configFlag(config, { directory, looks, home }), env, home });
  const configFile = creates ? { ...found, named: false } : found;

  const load = async () => (await import("../config/reading/load.ts")).loadConfig({ ...configFile, env });
  let glanced: Promise<Glance> | undefined;
  const glance = () => (glanced ??= glanceAt(configFile));
  const locate = async (): Promise<string> => {
    // A directory named explicitly applies whatever the file says.
    const named = namedState(env);
    if (named !== undefined) return named;
    const { state: section, broken } = await glance();
    if (broken !== undefined && !looks) throw broken;
    const found = locateState({ config: { state: section }, directory: dirname(configFile.file), env, home });
    if (broken !== undefined) terminal.note(`${broken.message} The state is read anyway: ${found}.`);
    return found;
  };
  let located: Promise<string> | undefined;
  const stateDirectory = () => (located ??= locate());
  const place = async (): Promise<StatePlace> => {
    const [found, { state: section, node }] = await Promise.all([stateDirectory(), glance()]);
    const { store, url } = section;
    return { directory: found, store, url, node };
  };
  const hasState = async (): Promise<boolean> => {
    requireAccess(await stateDirectory());
    return (await import("../stores/place.ts")).isUsed(await place());
  };
  const options = async (at?: StatePlace): Promise<StateOptions> => {
    const [found, { stateOptions }] = await Promise.all([at ?? place(), import("./state-options.ts")]);
    return stateOptions(found, {
      env,
      configDirectory: dirname(configFile.file),
      load: async () => (await glance()).plugins,
    });
  };
  return {
    terminal,
    env,
    now: Date.now,
    home,
    configFile,
    glance,
    load,
    stateDirectory,
    place,
    hasState,
    async openState({ create = false } = {}) {
      if (!create && !(await hasState())) throw new HostError("state_missing", { directory: await stateDirectory() });
      // Imported here, because most commands never use the database.
      const { openState } = await import("../stores/open.ts");
      return await openState(await options());
    },
    async openStateAt(at, { owner }) {
      const { openState } = await import("../stores/open.ts");
      return await openState({ ...(await options(at)), owner });
    },
    async checkStore() {
      const { checkStore } = await import("../stores/open.ts");
      return await checkStore(await options());
    },
    async backupHelp() {
      const { backupHelp } = await import("../stores/open.ts");
      return await backupHelp(await options());
    },
    async gateway() {
      requireAccess(await stateDirectory());
      return await findGateway(await stateDirectory());
    },
  };
}

/**
 * The configuration of the gateway running on the state directory, whichever file that was started with. Otherwise
 * `--state` selects the configuration file in that directory, if there is one, because by default both are in the same
 * directory.
 */
function configFlag(
  config: string | undefined,
  {
    directory,
    looks,
    home,
  }: { readonly directory: string | undefined; readonly looks: boolean; readonly home: string },
): { readonly flag?: string } {
  if (config !== undefined) return { flag: config };
  // Applies to the default state too: a command that the bot printed must use the configuration of the gateway that
  // printed it.
  const named = directory ?? namedState(process.env) ?? join(home, product.homeDirectory);
  const running = !looks || process.env[configVariable] ? undefined : runningConfigFile(named);
  const own = directory === undefined ? undefined : join(directory, product.configFile);
  const file = [running, own].find((one) => one !== undefined && existsSync(one));
  return file === undefined ? {} : { flag: file };
}

/**
 * Whether commands without a flag apply to the state of `dev`: the user has only ever run that, so the commands that it
 * prints and those in the bot's replies work unchanged. This never applies once the user has a configuration or a state
 * of their own.
 */
export function isDevelopmentDefault(home: string, config?: string): boolean {
  const named = config ?? process.env[configVariable] ?? process.env[stateVariable];
  const own = join(home, product.homeDirectory);
  const used = [product.configFile, "gateway.json"].some((file) => existsSync(join(own, file)));
  return named === undefined && !used;
}

function developmentState({
  terminal,
  home,
  config,
}: Pick<ContextOptions, "terminal" | "config"> & { readonly home: string }): string | undefined {
  const development = devDirectory(home);
  if (!isDevelopmentDefault(home, config) || !existsSync(join(development, product.configFile))) return undefined;
  terminal.note(`(the development gateway's state, ${development}; --state selects another)`);
  return development;
}
