/**
 * Replaces a plugin while the gateway runs. The new instance is set up beside the old one; everything that can go wrong
 * is tried before anything changes. Events that are under way end on the old instance, which closes after them.
 */
import { reasonOf } from "../contract/index.ts";
import { type Instance, keepPluginCodes, type Plugins, type Replacement } from "../host/index.ts";
import type { Log } from "../log/index.ts";
import type { Store } from "../state/index.ts";
import type { HookSide } from "./hook-side.ts";
import type { HttpSide } from "./http-side.ts";
import type { Runtime } from "./runtime.ts";

export interface ReplacedPlugin {
  readonly id: string;
  /** Routes whose address an earlier one takes until the next start, such as `GET /plugins/irc/state`. */
  readonly waiting: readonly string[];
}

/** Returns a function that replaces the plugin of a name; see `Gateway.replacePlugin`. */
export function createReplacing(parts: {
  readonly plugins: Plugins;
  readonly runtime: Runtime;
  readonly http: Pick<HttpSide, "renewRoutes">;
  readonly hookSide: Pick<HookSide, "recompile">;
  readonly store: Store;
  readonly log: Log;
  /** How long what is under way may take to end. */
  readonly drainMs: () => number;
  readonly cleanup: AsyncDisposableStack;
}): (name: string) => Promise<ReplacedPlugin> {
  const { plugins, runtime, http, hookSide, store, log, cleanup } = parts;
  const stop = new AbortController();
  cleanup.defer(() => stop.abort());

  /** Throws what one of them finds wrong; returns how all of them change. */
  async function prepare({ own, definition: { id } }: Instance) {
    const commands = runtime.commands.renew(
      id,
      own.commands.map(({ definition }) => definition),
    );
    const routes = await http.renewRoutes(
      id,
      own.routes.map(({ definition }) => definition),
    );
    const accounts = await runtime.accounts.renew(own.channels);
    return { commands, routes, accounts };
  }

  /** In one step: an event that comes next meets the new instance at every station. */
  function commit(
    replacement: Replacement,
    { commands, routes, accounts }: Awaited<ReturnType<typeof prepare>>,
  ): { readonly old: Instance | undefined; readonly followed: Promise<void> } {
    const old = replacement.commit();
    commands();
    routes.commit();
    hookSide.recompile();
    return { old, followed: accounts.commit() };
  }

  async function retire(old: Instance): Promise<void> {
    await runtime.path.underWay.ended(parts.drainMs(), stop.signal);
    await plugins.closeInstance(old);
  }

  async function replace(name: string): Promise<ReplacedPlugin> {
    const replacement = await plugins.renew(name);
    const { instance } = replacement;
    let prepared: Awaited<ReturnType<typeof prepare>>;
    try {
      prepared = await prepare(instance);
    } catch (error) {
      await plugins.closeInstance(instance);
      throw error;
    }
    const { old, followed } = commit(replacement, prepared);
    await followed;
    await instance.ready();
    if (old !== undefined) void retire(old);
    void runtime.turns.prepare();
    void keepPluginCodes(store, runtime.registry).catch((error: unknown) => {
      log.debug({ error: reasonOf(error) }, "the plugins' codes for why could not be stored");
    });
    const { id } = instance.definition;
    log.info(
      { plugin: id, version: instance.definition.version },
      old === undefined ? "the plugin is up" : "the plugin was replaced",
    );
    return { id, waiting: prepared.routes.waiting };
  }

  // One after the other: two instances of one save must not both take the place of a third.
  let last: Promise<unknown> = Promise.resolve();
  return (name) => {
    const next = last.then(() => replace(name));
    last = next.catch(() => {});
    return next;
  };
}
