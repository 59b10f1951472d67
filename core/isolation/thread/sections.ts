/** The section of the plugin in its thread. */
import type { PluginHost } from "../../sdk/contract.ts";
import { unpackError } from "../packed-error.ts";
import type { SectionFacts } from "../protocol.ts";

type Section = ReturnType<PluginHost["section"]>;

export interface ThreadSection {
  /** Takes over what the configuration says now, and notifies the plugin. */
  follow(facts: SectionFacts | undefined): void;
  readonly read: Omit<Section, "onChange">;
  onChange(fn: () => void): void;
}

export function createThreadSection(onError: (error: unknown) => void): ThreadSection {
  let facts: SectionFacts | undefined;
  let secrets: ReadonlyMap<string, SectionFacts["secrets"][number][1]> = new Map();
  const changes: (() => void)[] = [];
  return {
    follow(next) {
      facts = next;
      secrets = new Map(next?.secrets.map(([written, resolved]) => [JSON.stringify(written), resolved]));
      for (const fn of changes) {
        try {
          fn();
        } catch (error) {
          onError(error);
        }
      }
    },
    read: {
      settings: () => facts?.settings,
      ofAgent: (agent) => facts?.agents[agent] ?? [],
      names: () => facts?.names ?? { agents: [], channels: [] },
      secret(value, key) {
        const found = secrets.get(JSON.stringify(value));
        if (found === undefined) throw new Error(`${key}: the schema of the section does not mark it as a secret`);
        if ("error" in found) throw unpackError(found.error);
        return found.text;
      },
    },
    onChange: (fn) => void changes.push(fn),
  };
}
