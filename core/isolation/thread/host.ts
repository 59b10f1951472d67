/** The plugin's host in its worker: it notes what `setup` registers, and passes everything else to the main thread. */
import { PluginError } from "../../contract/index.ts";
import { checkChannel, registeredProblem } from "../../host/declaration/members.ts";
import type {
  ChannelDefinition,
  CheckDefinition,
  CommandDefinition,
  EngineDefinition,
  PanelDefinition,
  PluginDefinition,
  PluginHost,
  RouteDefinition,
  ToolDefinition,
  ToolSource,
} from "../../sdk/contract.ts";
import type { HookName, TapOrder } from "../../stations/index.ts";
import { channelData, dataOf, type Registered, Uncrossable } from "../declaration.ts";
import type { Peer } from "../peer.ts";
import { createThreadLog } from "./log.ts";
import type { ThreadSettings } from "./settings.ts";
import { createThreadStore } from "./store.ts";

/** What the plugin has registered, with its functions. */
export interface Own {
  readonly channels: ChannelDefinition[];
  readonly engines: EngineDefinition[];
  readonly commands: CommandDefinition[];
  readonly routes: RouteDefinition[];
  readonly tools: ToolDefinition[];
  readonly toolSources: ToolSource[];
  readonly taps: {
    readonly hook: HookName;
    readonly fn: (...args: readonly unknown[]) => unknown;
    readonly order?: TapOrder;
  }[];
  readonly checks: CheckDefinition[];
  readonly devices: Parameters<PluginHost["devices"]>[0][];
  readonly watched: Parameters<PluginHost["status"]>[0][];
  readonly panels: PanelDefinition[];
  readonly ready: Parameters<PluginHost["onReady"]>[0][];
  readonly close: Parameters<PluginHost["onClose"]>[0][];
}

export function createOwn(): Own {
  const registered = { channels: [], engines: [], tools: [], toolSources: [], commands: [], routes: [], taps: [] };
  return { ...registered, checks: [], devices: [], watched: [], panels: [], ready: [], close: [] };
}

/** Throws `Uncrossable` for what the main thread could not call. */
export function registeredOf(own: Own): Registered {
  return {
    channels: own.channels.map(channelData),
    engines: own.engines.map(
      ({ id, needsModel, stateless, hears, prepare, describe, complete, skipped, ...engine }) => ({
        id,
        needsModel,
        stateless,
        hears,
        prepares: prepare !== undefined,
        describes: describe !== undefined,
        transcribes: engine.transcribe !== undefined,
        speaks: engine.speak !== undefined,
        completes: complete !== undefined,
        skips: skipped !== undefined,
      }),
    ),
    commands: own.commands.map((command) => dataOf(command, `the command ${command.name}`, ["run"])),
    routes: own.routes.map((route) => dataOf(route, `the route ${route.path}`, ["handler"])),
    tools: own.tools.map(({ needsApproval, ...tool }) => ({
      ...dataOf<Omit<ToolDefinition, "run" | "needsApproval">>(tool, `the tool ${tool.name}`, ["run"]),
      ...(needsApproval !== undefined && {
        needsApproval: typeof needsApproval === "function" ? "asked" : needsApproval,
      }),
    })),
    toolSources: own.toolSources.map(({ id }) => id),
    taps: own.taps.map(({ hook, order }) => ({ hook, order })),
    checks: own.checks.map(({ name, fix }) => ({ name, fixes: fix !== undefined })),
    devices: own.devices.length,
    watched: own.watched.length,
    panels: own.panels.map(({ acts = {}, ...panel }) => ({
      ...dataOf<Omit<PanelDefinition, "entries" | "acts">>(panel, `the panel ${panel.id}`, ["entries"]),
      acts: Object.fromEntries(
        Object.entries(acts).map(([name, act]) => [
          name,
          dataOf(act, `the act ${name} of the panel ${panel.id}`, ["run"]),
        ]),
      ),
    })),
  };
}

export function createThreadHost({
  id,
  declared,
  settings,
  own,
  peer,
  signal,
  newId,
  address,
}: {
  readonly id: string;
  /** What the plugin declares of the configuration. */
  readonly declared: Pick<PluginDefinition, "section" | "presets">;
  readonly settings: ThreadSettings;
  readonly own: Own;
  readonly peer: Peer;
  readonly signal: AbortSignal;
  readonly newId: () => string;
  readonly address: () => string;
}): { readonly host: PluginHost; readonly close: () => void } {
  let open = true;
  const invalid = (reason: string) => new PluginError("plugin_invalid", { plugin: id, reason });
  const registering = (what: string, problem?: string) => {
    if (!open) throw invalid(`${what} was called after setup`);
    if (problem !== undefined) throw invalid(problem);
  };
  const add =
    <T>(what: string, list: T[], problemOf: (one: T) => string | undefined = () => undefined) =>
    (one: T): void => {
      registering(what, problemOf(one));
      list.push(one);
    };
  // The main thread receives no functions, so a missing one is noticed here only. It checks the rest.
  const addFunction = <T>(what: string, list: T[]) => add(what, list, (fn) => registeredProblem.function(what, fn));
  const onChange = (fn: () => void): void => {
    registering("onChange");
    settings.onChange(fn);
  };
  const host: PluginHost = {
    ...{ id, signal, newId, address, now: Date.now },
    log: createThreadLog(peer, null),
    store: createThreadStore(peer, null),
    takeDuty: (name) => peer.ask("host.takeDuty", [name]),
    receive: (event) => peer.ask("host.receive", [event]),
    notify: (to, text, options) => peer.ask("host.notify", [to, text, options]),
    notifyOwner: (text, options) => peer.ask("host.notifyOwner", [text, options]),
    hook: (path, payload, options) => peer.ask("host.hook", [path, payload, options]),
    hookResult: (eventId) => peer.ask("host.hookResult", [eventId]),
    preset(presetId) {
      registering("preset");
      if (declared.presets?.some((preset) => preset.id === presetId) !== true)
        throw invalid(`it declares no preset ${presetId}`);
      return { ...settings.preset(presetId), onChange };
    },
    section(key) {
      registering("section");
      if (declared.section?.key !== key) throw invalid(`it declares no section ${key}`);
      return { ...settings.section, onChange };
    },
    timezone: () => peer.ask("host.timezone", []),
    sharesStore: () => peer.ask("host.sharesStore", []),
    tap(hook, fn, { order } = {}) {
      registering("tap", registeredProblem.function(`tap of ${hook}`, fn));
      if (hook === "turn")
        throw new Uncrossable("a tap of the station turn returns a stream; register an engine instead");
      own.taps.push({ hook, fn: fn as never, order });
    },
    channel(definition) {
      registering("channel");
      checkChannel(id, definition);
      own.channels.push(definition);
    },
    engine: add("engine", own.engines, registeredProblem.engine),
    command: add("command", own.commands, registeredProblem.command),
    tool: add("tool", own.tools, registeredProblem.tool) as PluginHost["tool"],
    toolSource: add("toolSource", own.toolSources, registeredProblem.toolSource),
    route: add("route", own.routes, registeredProblem.route),
    devices: addFunction("devices", own.devices),
    check: add("check", own.checks, registeredProblem.check),
    status: addFunction("status", own.watched),
    panel: add("panel", own.panels, registeredProblem.panel),
    onReady: addFunction("onReady", own.ready),
    onClose: (fn) => void own.close.push(fn),
  };
  return {
    host,
    close() {
      open = false;
    },
  };
}
