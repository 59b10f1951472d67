/** Remembers which tools the servers of models do not accept, for doctor and for the sources of those tools. */
import { reasonOf, type TurnEvent } from "../../contract/index.ts";
import type { Registry } from "../../host/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { OwnedTool } from "./called-tool.ts";

/** A tool that a model is asked without. */
export interface RefusedTool {
  /** `provider/model`. */
  readonly model: string;
  readonly name: string;
  /** The plugin that offers it, or `core`. */
  readonly plugin: string;
  readonly reason: string;
}

export interface RefusedTools {
  /** The tools of a turn that begins. A tool whose definition has changed is no longer known as refused. */
  offered(tools: readonly OwnedTool[]): void;
  /** Follows the events of one turn: what a model refuses, and what it accepts again. */
  observer(): (event: TurnEvent) => void;
  all(): readonly RefusedTool[];
}

/** Names of models can come from requests, so their number is bounded. */
const mostEntries = 1_000;

type Entry = RefusedTool & { readonly definition: string };

const definitionOf = ({ plugin, description, parameters }: OwnedTool): string =>
  JSON.stringify([plugin, description, parameters]);

export function createRefusedTools({
  registry,
  log,
}: {
  readonly registry: Pick<Registry, "toolSources">;
  readonly log: Pick<PluginLog, "warn">;
}): RefusedTools {
  const entries = new Map<string, Entry>();
  /** The newest of each name. */
  const known = new Map<string, OwnedTool>();

  function report(
    plugin: string,
    refusal: { readonly model: string; readonly name: string; readonly reason: string | null },
  ): void {
    for (const { plugin: owner, definition } of registry.toolSources) {
      if (owner !== plugin) continue;
      try {
        definition.refused?.(refusal);
      } catch (error) {
        log.warn({ plugin, source: definition.id, error: reasonOf(error) }, "the source of a refused tool failed");
      }
    }
  }

  function note({ model, name, reason }: Extract<TurnEvent, { readonly type: "tool-refused" }>): void {
    const tool = known.get(name);
    if (tool === undefined) return;
    const { plugin } = tool;
    const key = JSON.stringify([model, name]);
    const before = entries.get(key);
    const entry = { model, name, plugin, reason, definition: definitionOf(tool) };
    if (before?.reason === reason && before.definition === entry.definition) return;
    if (entries.size >= mostEntries) entries.clear();
    entries.set(key, entry);
    log.warn({ plugin, tool: name, model, reason }, "a tool is left out: the server of the model does not accept it");
    report(plugin, { model, name, reason });
  }

  function forget(key: string, { plugin, model, name }: Entry): void {
    entries.delete(key);
    report(plugin, { model, name, reason: null });
  }

  return {
    offered(tools) {
      for (const tool of tools) known.set(tool.name, tool);
      if (entries.size === 0) return;
      for (const [key, entry] of entries) {
        const tool = known.get(entry.name);
        if (tool !== undefined && definitionOf(tool) !== entry.definition) forget(key, entry);
      }
    },
    observer() {
      const refused = new Set<string>();
      let model: string | undefined;
      return (event) => {
        if (event.type === "model") model = event.model;
        else if (event.type === "tool-refused") {
          refused.add(JSON.stringify([event.model, event.name]));
          note(event);
        } else if (event.type === "done" && model !== undefined && entries.size > 0)
          // The model has answered with all other tools, such as after an update of its server.
          for (const [key, entry] of entries)
            if (entry.model === model && !refused.has(key) && known.has(entry.name)) forget(key, entry);
      };
    },
    all: () => [...entries.values()].map(({ definition: _, ...entry }) => entry),
  };
}
