/** `dev FOLDER`: a plugin that is being written, replaced in the running gateway whenever one of its files is saved. */
import { realpathSync, statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { HostError, reasonOf } from "../../contract/errors.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { namedPlugin, type PluginSource } from "../../host/find.ts";
import { placeOf } from "../../host/place.ts";
import type { CommandContext } from "../context.ts";
import { followEvents, startNow } from "../events/follow.ts";
import { stateOptions } from "../state-options.ts";
import { renderChain } from "../why/chain.ts";
import { createOutputFiles } from "./output-files.ts";
import { watchFolder } from "./watch-folder.ts";

export interface DevPlugin {
  /** The path under which the gateway loads it. */
  readonly path: string;
  /** Reports what became of the plugin at the start, then of each save, and prints the decisions about each event. */
  follow(gateway: Gateway, signal: AbortSignal): Promise<void>;
}

/** Throws `plugin_not_found` where the folder has no module. */
export function createDevPlugin(named: string, context: Pick<CommandContext, "terminal" | "now" | "env">): DevPlugin {
  const { terminal, now } = context;
  const resolved = resolve(named);
  namedPlugin(resolved, process.cwd());
  // As the modules in it are known to the loader.
  const path = realpathSync(resolved);
  const source = namedPlugin(path, process.cwd());
  const folder = statSync(path).isDirectory() ? path : dirname(path);

  async function replace(gateway: Gateway, savedAt: number): Promise<void> {
    try {
      const { id, waiting } = await gateway.replacePlugin(path);
      terminal.line(
        `${terminal.style("green", `${id} was replaced`)} ${Math.max(0, Math.round(now() - savedAt))} ms ` +
          "after the save.",
      );
      if (waiting.length > 0) terminal.line(`New routes take effect after a restart: ${waiting.join(", ")}.`);
    } catch (error) {
      terminal.line(`${terminal.style("red", sentence(error, source))} The last good version keeps running.`);
    }
  }

  return {
    path,
    async follow(gateway, signal) {
      const failed = await startProblem(gateway, { source });
      if (failed !== undefined) terminal.line(`${terminal.style("red", failed)} It starts as soon as you fix it.`);
      for (const line of await withoutAccount(gateway)) terminal.line(line);
      terminal.line(`Files of ${shown(folder)} take effect when they are saved.`);
      const files = createOutputFiles(now);
      const state = realpathSync(gateway.stateDirectory);
      const isForeign = (file: string) => file === state;
      watchFolder(folder, { signal, now, isForeign }, (savedAt, changed) => {
        const { saved, outputs } = files.divide(changed);
        for (const file of outputs)
          terminal.line(
            `${shown(file)} changes whenever the plugin is replaced, so its changes do not replace the ` +
              "plugin any more.",
          );
        if (saved.length > 0) void files.during(replace(gateway, savedAt));
      });
      void printEvents(gateway, context, signal);
    },
  };
}

/** Channels that run, but connect to nothing. */
async function withoutAccount(gateway: Gateway): Promise<readonly string[]> {
  const { plugins, accounts, configFile } = await gateway.describe();
  return plugins.flatMap(({ bundled, state, channel }) =>
    bundled || state !== "up" || channel === undefined || accounts.some((account) => account.channel === channel)
      ? []
      : [
          `The channel ${channel} has no account yet. Add "channels": { "${channel}": { ... } } with its ` +
            `options to ${configFile}.`,
        ],
  );
}

/** Why the plugin did not come up with the gateway, with its place. */
async function startProblem(
  gateway: Gateway,
  { source }: { readonly source: PluginSource },
): Promise<string | undefined> {
  const { plugins } = await gateway.describe();
  const failed = plugins.some(({ state, bundled }) => state === "failed" && !bundled);
  if (!failed) return undefined;
  try {
    await gateway.replacePlugin(source.name);
    return undefined;
  } catch (error) {
    return sentence(error, source);
  }
}

/**
 * `src/index.ts:12: The declaration of the plugin irc is invalid: its version must be a semantic version such as
 * 1.0.0.`
 */
function sentence(error: unknown, source: PluginSource): string {
  const place = placeOf(error, source);
  const at = place === undefined ? "" : `${shown(place.file)}${place.line === undefined ? "" : `:${place.line}`}: `;
  return `${at}${error instanceof HostError ? error.message : `${reasonOf(error)}.`}`;
}

function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short === "" || short.startsWith(`..${sep}`) ? path : short;
}

async function printEvents(
  gateway: Gateway,
  { terminal, now, env }: Pick<CommandContext, "terminal" | "now" | "env">,
  signal: AbortSignal,
): Promise<void> {
  const [{ openState }, { statePlace }] = await Promise.all([
    import("../../stores/open.ts"),
    import("../../stores/settings.ts"),
  ]);
  const { startedAt, configFile } = await gateway.describe();
  const place = statePlace(gateway.config(), gateway.stateDirectory);
  const load = async () => gateway.config().plugins.load;
  const store = await openState(stateOptions(place, { env, configDirectory: dirname(configFile), load }));
  try {
    const start = await startNow(store, startedAt);
    const filter = { limit: 1, includeInternal: true };
    await followEvents(store, { filter, shown: new Set(), start, signal }, (report) => {
      terminal.line(renderChain(report, now(), terminal.style));
    });
  } catch (error) {
    if (!signal.aborted) terminal.note(`The events cannot be shown any more: ${reasonOf(error)}.`);
  } finally {
    await store.close();
  }
}
