/** What an event keeps of the plugins from its beginning: beside its taps, the engines and the commands. */
import { type Commands, keepEngines } from "../../agents/index.ts";
import { enginesOf, type Registry } from "../../host/index.ts";
import type { Hooks } from "../../stations/index.ts";

export function keepPlugins(
  hooks: Hooks,
  { registry, commands }: { readonly registry: Pick<Registry, "engines">; readonly commands: Pick<Commands, "keep"> },
): void {
  hooks.onBegin((visit) => {
    keepEngines(visit, enginesOf({ engines: new Map(registry.engines) }));
    commands.keep(visit);
  });
}
