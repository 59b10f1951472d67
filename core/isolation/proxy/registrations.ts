/** Registers with the host what a plugin has registered in its worker: each function asks the worker. */
import type { PanelDefinition, PanelEntry, PluginHost, RouteAnswer } from "../../sdk/contract.ts";
import type { Registered } from "../declaration.ts";
import type { Supervisor } from "../supervisor.ts";
import type { ProxyChannels } from "./channel.ts";
import type { ProxyEngines } from "./engine.ts";
import { registerTools } from "./tools.ts";

export function registerAll(
  host: PluginHost,
  registered: Registered,
  {
    supervisor,
    channels,
    engines,
    watched,
  }: {
    readonly supervisor: Supervisor;
    readonly channels: ProxyChannels;
    readonly engines: ProxyEngines;
    /** What the plugin last reported, by index. */
    readonly watched: () => readonly unknown[];
  },
): void {
  const { askWhenUp } = supervisor;
  for (const channel of registered.channels) host.channel(channels.define(channel));
  for (const engine of registered.engines) host.engine(engines.define(engine));
  registerTools(host, registered, supervisor);
  registered.commands.forEach((command, index) => {
    host.command({ ...command, run: (call) => askWhenUp<string>("command", [index, call]) });
  });
  registered.routes.forEach((route, index) => {
    host.route({
      ...route,
      async handler(request) {
        const answer = await askWhenUp<RouteAnswer>("route", [index, request]);
        return answer?.body instanceof Uint8Array ? { ...answer, body: Buffer.from(answer.body) } : answer;
      },
    });
  });
  registered.taps.forEach(({ hook, order }, index) => {
    // The same for every station: a signal, which only some have, is the last argument.
    const fn = (...args: readonly unknown[]) => {
      const last = args.at(-1);
      const signal = last instanceof AbortSignal ? last : undefined;
      const data = signal === undefined ? args : args.slice(0, -1);
      return askWhenUp("tap", [index, data, signal !== undefined], { signal });
    };
    host.tap(hook, fn as never, order === undefined ? {} : { order });
  });
  registered.checks.forEach(({ name, fixes }, index) => {
    host.check({
      name,
      explain: () => askWhenUp("check.explain", [index]),
      ...(fixes && { fix: () => askWhenUp<string>("check.fix", [index]) }),
    });
  });
  registered.panels.forEach(({ acts, ...panel }, index) => {
    const run =
      (name: string): NonNullable<PanelDefinition["acts"]>[string]["run"] =>
      (entry) =>
        askWhenUp("panel.act", [index, name, entry]);
    host.panel({
      ...panel,
      entries: () => askWhenUp<readonly PanelEntry[]>("panel.entries", [index]),
      acts: Object.fromEntries(Object.entries(acts).map(([name, act]) => [name, { ...act, run: run(name) }])),
    });
  });
  for (let index = 0; index < registered.devices; index += 1)
    host.devices((token) => askWhenUp<boolean>("device", [index, token]));
  for (let index = 0; index < registered.watched; index += 1)
    host.status(() => (watched()[index] ?? []) as ReturnType<Parameters<PluginHost["status"]>[0]>);
}
