/**
 * The settings of a plugin in a worker: what the thread reads at once is sent to it when it starts, and again after
 * each edit.
 */
import { markedSecrets, secretsIn } from "../../host/index.ts";
import type { PluginDefinition, PluginHost } from "../../sdk/contract.ts";
import { packError } from "../packed-error.ts";
import type { OwnFacts, SectionFacts, SettingsFacts } from "../protocol.ts";

export interface ProxySettings {
  facts(): OwnFacts;
}

export function createProxySettings(
  host: PluginHost,
  { section, presets = [] }: Pick<PluginDefinition, "section" | "presets">,
  onChange: () => void,
): ProxySettings {
  const ofSection = section && { section, reader: host.section(section.key) };
  const ofPresets = presets.map(({ id, settings: schema }) => ({ id, schema, reader: host.preset(id) }));
  // Each of them reports every edit.
  const [first] = [ofSection, ...ofPresets].filter((one) => one !== undefined);
  first?.reader.onChange(onChange);
  return {
    facts: () => ({
      ...(ofSection !== undefined && { section: sectionFacts(ofSection) }),
      presets: Object.fromEntries(ofPresets.map((preset) => [preset.id, presetFacts(preset)])),
    }),
  };
}

function sectionFacts({
  section,
  reader,
}: {
  readonly section: NonNullable<PluginDefinition["section"]>;
  readonly reader: ReturnType<PluginHost["section"]>;
}): SectionFacts {
  const names = reader.names();
  const agents = Object.fromEntries(names.agents.map((agent) => [agent, reader.ofAgent(agent)]));
  return { settings: reader.settings(), agents, names, secrets: resolved(secretsIn(section, reader), reader) };
}

function presetFacts({
  schema,
  reader,
}: {
  readonly schema: NonNullable<PluginDefinition["presets"]>[number]["settings"];
  readonly reader: ReturnType<PluginHost["preset"]>;
}): SettingsFacts {
  const settings = reader.settings();
  return { settings, secrets: resolved(schema === undefined ? [] : markedSecrets(schema, settings), reader) };
}

function resolved(
  secrets: ReturnType<typeof markedSecrets>,
  reader: Pick<ReturnType<PluginHost["preset"]>, "secret">,
): SettingsFacts["secrets"] {
  return secrets.map(({ written, place }) => {
    try {
      return [written, { text: reader.secret(written, place) }];
    } catch (error) {
      return [written, { error: packError(error) }];
    }
  });
}
