/** Creates the host of one plugin: its own log, store and registrations, without the host's configuration. */

import { secretPath } from "../config/index.ts";
import { type Accepted, type Address, type Json, PluginError, type RawEvent } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { PluginDefinition, PluginHost, PluginStore, ToolDefinition } from "../sdk/contract.ts";
import type { Store } from "../state/index.ts";
import {
  type HookName,
  type HookTable,
  hookNames,
  isThenable,
  type PluginTap,
  type TapOrder,
} from "../stations/index.ts";
import { type HandedDelivery, handedResult } from "../webhooks/index.ts";
import { tapProblems } from "./answers.ts";
import { type Asked, unusable } from "./deadline.ts";
import { checkChannel, registeredProblem } from "./declaration/members.ts";
import { noticeEvent } from "./notice.ts";
import { addUnique, type OwnRegistry } from "./registry.ts";
import { storableKey } from "./storable.ts";

export interface ScopeOptions {
  readonly store: Store;
  readonly log: Log;
  /** What this plugin alone registers. */
  readonly registry: OwnRegistry;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly newId: () => string;
  readonly receive: (event: RawEvent) => Promise<Accepted>;
  readonly address: () => string;
  /** Where an owner reads notices; `undefined` if none is known. */
  readonly owner: () => Promise<Address | undefined>;
  /** Takes a duty that one node of the store at a time fulfils. */
  readonly takeDuty: (name: string) => Promise<boolean>;
  readonly timezone: () => string;
  readonly handIn: (delivery: HandedDelivery) => Promise<Accepted>;
  readonly presets: {
    /** The user's current settings for a preset. */
    readonly settings: (id: string) => Json | undefined;
    /** Throws a `HostError` that names the path. */
    readonly secret: (value: unknown, path: string) => string;
  };
  /** The current settings of the section that the plugin declares. */
  readonly sectionOf: (
    section: NonNullable<PluginDefinition["section"]>,
  ) => Pick<DeclaredSection, "settings" | "ofAgent" | "names">;
}

type DeclaredSection = ReturnType<PluginHost["section"]>;

const commandName = /^[a-z0-9_]{1,32}$/;

/** A namespace of the store, whose times to live are in seconds. */
export function scopedStore(store: Store, namespace: string, now: () => number): PluginStore {
  const expiry = (ttlSeconds: number | undefined) =>
    ttlSeconds === undefined ? {} : { expiresAt: now() + ttlSeconds * 1_000 };
  return {
    get: async (key) => await store.get(namespace, storableKey("get", key, null)),
    set: async (key, value, options = {}) =>
      await store.set(namespace, storableKey("set", key, value), value, {
        ...expiry(options.ttlSeconds),
        ...(options.durable === undefined ? {} : { durable: options.durable }),
      }),
    delete: async (key) => await store.delete(namespace, storableKey("delete", key, null)),
    list: async (options) => (await store.list(namespace, options)).map(({ key, value }) => ({ key, value })),
    async update(key, change, options = {}) {
      const checkedChange = (value: Json | null) => {
        const next = change(value);
        if (next !== undefined) storableKey("update", key, next);
        return next;
      };
      return await store.update(namespace, storableKey("update", key, null), checkedChange, expiry(options.ttlSeconds));
    },
  };
}

/** Wraps a tap so that its answer is checked against the shape its station expects. */
function checked<N extends HookName>(asked: Asked & { readonly doing: N }, fn: HookTable[N]): HookTable[N] {
  const wrong = tapProblems[asked.doing];
  const judged = (answer: unknown) => {
    const problem = answer === undefined ? undefined : wrong(answer);
    if (problem !== undefined) throw unusable(asked, problem);
    return answer;
  };
  const run = fn as (...args: readonly unknown[]) => unknown;
  const tap = (...args: readonly unknown[]) => {
    const answer = run(...args);
    return isThenable(answer) ? answer.then(judged) : judged(answer);
  };
  return tap as unknown as HookTable[N];
}

function tapProblem(
  hook: HookName,
  fn: unknown,
  { order = "normal" }: { readonly order?: TapOrder } = {},
): string | undefined {
  if (!hookNames.includes(hook)) return `there is no hook ${String(hook)}; the hooks are ${hookNames.join(", ")}`;
  if (!["early", "normal", "late"].includes(order))
    return `the order of its tap of ${hook} must be early, normal or late`;
  return registeredProblem.function(`tap of ${hook}`, fn);
}

/**
 * `close` ends the time in which the plugin may register: hooks, commands and routes are declared in `setup`, not
 * later.
 */
export function createScope(
  { id, section }: Pick<PluginDefinition, "id" | "section">,
  options: ScopeOptions,
): { readonly host: PluginHost; readonly close: () => void; readonly taps: readonly PluginTap[] } {
  const { registry } = options;
  const taps: PluginTap[] = [];
  let open = true;
  const invalid = (reason: string) => new PluginError("plugin_invalid", { plugin: id, reason });
  const registering = (what: string, problem?: string) => {
    if (!open) throw invalid(`${what} was called after setup`);
    if (problem !== undefined) throw invalid(problem);
  };
  const ownerOf = options.owner;
  const onChange = (fn: () => void) => {
    registering("onChange");
    registry.changes.push({ plugin: id, definition: fn });
  };
  const host: PluginHost = {
    id,
    log: options.log.child({ plugin: id }),
    store: scopedStore(options.store, `plugin:${id}`, options.now),
    signal: options.signal,
    now: options.now,
    newId: options.newId,
    takeDuty: (name) => options.takeDuty(`plugin:${id}:${name}`),
    receive: options.receive,
    notify: (address, text, { key } = {}) =>
      options.receive(
        noticeEvent({ address, text, ...(key === undefined ? {} : { dedupeKey: `notice:${id}:${key}` }) }),
      ),
    async notifyOwner(text, options) {
      const owner = await ownerOf();
      if (owner === undefined) return false;
      await host.notify(owner, text, options);
      return true;
    },
    address: options.address,
    hook(path, payload, { key, headers, origin, keepReply }) {
      const optional = { ...(headers && { headers }), origin, ...(keepReply && { keepReply }) };
      return options.handIn({ plugin: id, path, payload, key, ...optional });
    },
    hookResult: (eventId) => handedResult(eventId, { plugin: id, store: options.store }),
    preset(presetId) {
      registering("preset");
      if (registry.presets.get(presetId)?.plugin !== id) throw invalid(`it declares no preset ${presetId}`);
      registry.asked.add(`hooks.${presetId}`);
      const secret: DeclaredSection["secret"] = (value, key) =>
        options.presets.secret(value, `hooks.${presetId}.${key}`);
      return { settings: () => options.presets.settings(presetId), secret, onChange };
    },
    section(key) {
      registering("section");
      if (section?.key !== key) throw invalid(`it declares no section ${key}`);
      registry.asked.add(key);
      const secret: DeclaredSection["secret"] = (value, place) =>
        options.presets.secret(value, secretPath(section, place));
      return { ...options.sectionOf(section), secret, onChange };
    },
    timezone: async () => options.timezone(),
    sharesStore: async () => options.store.nodes !== undefined,
    tap(hook, fn, tapOptions) {
      registering("tap", tapProblem(hook, fn, tapOptions));
      taps.push({ hook, fn: checked({ plugin: id, doing: hook }, fn) as PluginTap["fn"], ...tapOptions });
    },
    command(definition) {
      registering("command", registeredProblem.command(definition));
      if (!commandName.test(definition.name))
        throw invalid(`the command ${definition.name} must be a to z, 0 to 9 and _, at most 32`);
      if (!["anyone", "allowed", "owner"].includes(definition.role))
        throw invalid(`the command ${definition.name} needs a role: anyone, allowed or owner`);
      registry.commands.push({ plugin: id, definition });
    },
    channel(definition) {
      registering("channel");
      checkChannel(id, definition);
      addUnique(registry.channels, "channel", id, definition);
    },
    engine(definition) {
      registering("engine", registeredProblem.engine(definition));
      addUnique(registry.engines, "engine", id, definition);
    },
    tool(definition) {
      registering("tool", registeredProblem.tool(definition));
      if (registry.tools.some((other) => other.definition.name === definition.name))
        throw invalid(`it offers two tools with the name ${definition.name}`);
      registry.tools.push({ plugin: id, definition: definition as unknown as ToolDefinition });
    },
    toolSource(definition) {
      registering("toolSource", registeredProblem.toolSource(definition));
      registry.toolSources.push({ plugin: id, definition });
    },
    route(definition) {
      registering("route", registeredProblem.route(definition));
      if (!["gateway", "device", "public"].includes(definition.access))
        throw invalid(`the route ${definition.path} needs an access: gateway, device or public`);
      registry.routes.push({ plugin: id, definition });
    },
    devices(check) {
      registering("devices", registeredProblem.function("devices", check));
      registry.devices.push({ plugin: id, definition: check });
    },
    check(definition) {
      registering("check", registeredProblem.check(definition));
      registry.checks.push({ plugin: id, definition });
    },
    status(report) {
      registering("status", registeredProblem.function("status", report));
      registry.watched.push({ plugin: id, definition: report });
    },
    panel(definition) {
      registering("panel", registeredProblem.panel(definition));
      if (registry.panels.some((other) => other.definition.id === definition.id))
        throw invalid(`it adds two panels with the id ${definition.id}`);
      registry.panels.push({ plugin: id, definition });
    },
    onReady(fn) {
      registering("onReady", registeredProblem.function("onReady", fn));
      registry.ready.push(fn);
    },
    onClose(fn) {
      registry.close.push(fn);
    },
  };
  return {
    host,
    taps,
    close() {
      open = false;
    },
  };
}
