/** The section of a plugin in a worker: what the thread reads at once is sent to it when it starts, and again after each edit. */
import { changeMarked, nodeOf, parsePath, renderPath, type Segment } from "../../config/index.ts";
import type { PluginDefinition, PluginHost } from "../../sdk/contract.ts";
import { packError } from "../packed-error.ts";
import type { SectionFacts } from "../protocol.ts";

type Section = NonNullable<PluginDefinition["section"]>;

export interface ProxySection {
  /** `undefined` if the plugin declares no section. */
  facts(): SectionFacts | undefined;
}

export function createProxySection(host: PluginHost, section: Section | undefined, onChange: () => void): ProxySection {
  if (section === undefined) return { facts: () => undefined };
  const reader = host.section(section.key);
  reader.onChange(onChange);
  return {
    facts() {
      const settings = reader.settings();
      const agents = reader.names().agents.map((agent) => [agent, reader.ofAgent(agent)] as const);
      const secrets = new Map<string, SectionFacts["secrets"][number]>();
      const note = (value: unknown, root: readonly Segment[]) => {
        changeMarked(nodeOf(section.schema), value, root, {
          mark: "secret",
          change(written, at) {
            secrets.set(JSON.stringify(written), [written, resolved(() => reader.secret(written, renderPath(at)))]);
            return written;
          },
        });
      };
      if (section.of !== "agents") note(settings, []);
      else for (const [, places] of agents) for (const place of places) note(place.settings, parsePath(place.path) ?? []);
      return { settings, agents: Object.fromEntries(agents), names: reader.names(), secrets: [...secrets.values()] };
    },
  };
}

function resolved(read: () => string): SectionFacts["secrets"][number][1] {
  try {
    return { text: read() };
  } catch (error) {
    return { error: packError(error) };
  }
}
