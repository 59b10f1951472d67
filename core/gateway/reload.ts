/** Follows the configuration while the gateway runs: logs problems, applies edits. */
import type { Heartbeat } from "../agents/index.ts";

import {
  type CheckedConfig,
  changedAtStart,
  type Environment,
  type GatewayConfig,
  keepLastGood,
  type LoadedConfig,
  type Problem,
  rememberSecrets,
  type Secrets,
  watchConfig,
} from "../config/index.ts";
import { type HostError, programCommand, reasonOf } from "../contract/index.ts";
import { callPlugin, pluginDeadlines } from "../host/index.ts";
import type { Log } from "../log/index.ts";
import type { Results } from "../webhooks/index.ts";
import type { Current } from "./base.ts";
import { logProblem, pluginProblems } from "./config-problems.ts";
import type { Runtime } from "./runtime.ts";

/** What this edit changed that takes effect only after a restart. A value that was changed back does not count. */
function waitingFor(
  from: { readonly started: GatewayConfig; readonly before: GatewayConfig },
  after: GatewayConfig,
): readonly string[] {
  const waiting = changedAtStart(from.started, after);
  return changedAtStart(from.before, after).filter((path) => waiting.includes(path));
}

/** Identifies what is in effect: the text of the file, without the parts that have an error. */
function inEffect({ digest, refused = [], disabled }: LoadedConfig): string {
  return JSON.stringify([digest, refused.map(({ path, message }) => [path, message]), [...disabled]]);
}

function notifyPlugins(changes: Runtime["registry"]["changes"], log: Log): void {
  for (const { plugin, definition } of changes) {
    callPlugin({ plugin, doing: "onChange" }, pluginDeadlines.onReady, async () => definition()).catch(
      (error: unknown) => {
        log.error({ plugin, error: reasonOf(error) }, "a plugin could not apply the configuration");
      },
    );
  }
}

/** The result of a requested reload. */
export interface Reloaded {
  readonly changed: boolean;
  /** Problems of the effective configuration, and of sections whose last valid ones stay in effect. */
  readonly problems: readonly Problem[];
  /** Settings that differ from those at the start, and take effect after a restart. */
  readonly waiting: readonly string[];
}

/**
 * Applies an edited file from the next event on. An invalid file is reported, and the last valid configuration stays in
 * effect. Returns a function that checks the file at once and throws its error.
 */
export function followConfig(parts: {
  readonly current: Current;
  readonly environment: Environment;
  readonly now: () => number;
  readonly secrets: Secrets;
  readonly runtime: Runtime;
  readonly heartbeat: Heartbeat;
  readonly log: Log;
  readonly cleanup: AsyncDisposableStack;
  /** Problems of the effective configuration that only plugins and mappings find. */
  readonly found: () => Promise<readonly Problem[]>;
  readonly results: Pick<Results, "recheck">;
  readonly recheckSessions: () => Promise<void>;
}): () => Promise<Reloaded> {
  const { current, runtime, heartbeat, log, cleanup } = parts;
  const started = current.loaded.config;
  const schemas = () => current.schemas;
  const problemsOf = async (checked: CheckedConfig) => [
    ...checked.problems,
    ...(await pluginProblems([...runtime.registry.plugins.values()], checked, {
      env: parts.environment,
      now: parts.now,
    })),
  ];
  const withLastGood = async (
    fresh: LoadedConfig,
  ): Promise<{ readonly loaded: LoadedConfig; readonly unchanged: readonly string[] }> => {
    const good = await keepLastGood(fresh, current.loaded, { env: parts.environment, schemas: schemas(), problemsOf });
    if (good === undefined) return { loaded: fresh, unchanged: [] };
    const { found, digest } = fresh;
    return { loaded: { ...good.checked, found, digest, refused: good.refused }, unchanged: good.unchanged };
  };
  async function report(
    loaded: LoadedConfig,
    { unchanged, waiting }: { readonly unchanged: readonly string[]; readonly waiting: readonly string[] },
  ): Promise<void> {
    for (const problem of [...(loaded.refused ?? []), ...loaded.problems, ...(await parts.found())])
      logProblem(log, problem);
    if (unchanged.length > 0) {
      const hint =
        "Correct the file. Where the cause is outside it, such as a missing file, " +
        `\`${programCommand} reload\` reads the file again.`;
      log.error(
        { sections: unchanged, hint },
        "sections with an error were rejected; the last valid ones stay in effect",
      );
    }
    if (waiting.length > 0) log.warn({ paths: waiting }, "some settings take effect after a restart");
  }

  const stop = new AbortController();
  cleanup.defer(() => stop.abort());
  let failed: HostError | undefined;
  let applied: Promise<void> = Promise.resolve();
  const look = watchConfig(
    current.loaded.file,
    async (change) => {
      failed = change.error;
      if (change.error !== undefined) {
        const { line, column } = change.error.details;
        log.error(
          { file: current.loaded.file, ...(line === undefined ? {} : { line, column }), hint: change.error.hint },
          `the configuration was rejected; the last valid one stays in effect: ${reasonOf(change.error)}`,
        );
        return;
      }
      const { loaded, unchanged } = await withLastGood(change.loaded);
      const waiting = waitingFor({ started, before: current.loaded.config }, loaded.config);
      rememberSecrets(loaded.config, parts.secrets, schemas());
      // Read before the configuration takes effect, so that all of it takes effect at once.
      const adaptAccounts = await runtime.accounts.prepare(loaded.config, loaded.disabled);
      if (stop.signal.aborted) return;
      current.loaded = loaded;
      applied = Promise.all([adaptAccounts(), report(loaded, { unchanged, waiting })]).then(
        () => log.info({ file: change.loaded.file }, "the configuration was reloaded"),
        (error: unknown) => log.error({ error: reasonOf(error) }, "the accounts could not apply the configuration"),
      );
      parts.results.recheck();
      void parts.recheckSessions();
      heartbeat.reload();
      notifyPlugins(runtime.registry.changes, log);
    },
    {
      signal: stop.signal,
      env: parts.environment,
      schemas,
      override: current.loaded.override,
      digest: current.loaded.digest,
      isEmpty: current.loaded.isEmpty,
    },
  );
  return async () => {
    const before = inEffect(current.loaded);
    const known = new Set(parts.secrets.values());
    await look();
    await applied;
    if (failed !== undefined) throw failed;
    const { config, problems, refused = [] } = current.loaded;
    const hasNewSecret = [...parts.secrets.values()].some((secret) => !known.has(secret));
    return {
      changed: inEffect(current.loaded) !== before || hasNewSecret,
      problems: [...refused, ...problems, ...(await parts.found())],
      waiting: changedAtStart(started, config),
    };
  };
}
