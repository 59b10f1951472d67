/** What the configuration says of the plugin in its thread: its section, and the settings of its presets. */
import type { PluginHost } from "../../sdk/contract.ts";
import { unpackError } from "../packed-error.ts";
import type { OwnFacts, SettingsFacts } from "../protocol.ts";

type Section = ReturnType<PluginHost["section"]>;
type Preset = ReturnType<PluginHost["preset"]>;

export interface ThreadSettings {
  /** Takes over what the configuration says now, and notifies the plugin. */
  follow(facts: OwnFacts): void;
  readonly section: Omit<Section, "onChange">;
  preset(id: string): Omit<Preset, "onChange">;
  onChange(fn: () => void): void;
}

export function createThreadSettings(onError: (error: unknown) => void): ThreadSettings {
  let facts: OwnFacts = { presets: {} };
  const changes: (() => void)[] = [];
  const read = (of: () => SettingsFacts | undefined): Omit<Preset, "onChange"> => ({
    settings: () => of()?.settings as ReturnType<Preset["settings"]>,
    secret(value, key) {
      const written = JSON.stringify(value);
      const found = of()?.secrets.find(([one]) => JSON.stringify(one) === written)?.[1];
      if (found === undefined) throw new Error(`${key}: the schema of the section does not mark it as a secret`);
      if ("error" in found) throw unpackError(found.error);
      return found.text;
    },
  });
  return {
    follow(next) {
      facts = next;
      for (const fn of changes) {
        try {
          fn();
        } catch (error) {
          onError(error);
        }
      }
    },
    section: {
      ...read(() => facts.section),
      ofAgent: (agent) => facts.section?.agents[agent] ?? [],
      names: () => facts.section?.names ?? { agents: [], channels: [] },
    },
    preset: (id) => read(() => facts.presets[id]),
    onChange: (fn) => void changes.push(fn),
  };
}
