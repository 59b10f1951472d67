/**
 * The section of a plugin in a worker: what the thread reads at once is sent to it when it starts, and again after each
 * edit.
 */
import { secretsIn } from "../../host/index.ts";
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
      const names = reader.names();
      const agents = Object.fromEntries(names.agents.map((agent) => [agent, reader.ofAgent(agent)]));
      const secrets = secretsIn(section, reader).map(
        ({ written, place }) => [written, resolved(() => reader.secret(written, place))] as const,
      );
      return { settings: reader.settings(), agents, names, secrets };
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
