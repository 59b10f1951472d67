/** What is wrong with the options that a plugin or a channel declares. */
import { validateSection } from "../../../config/checking/validate.ts";
import { accessSchema } from "../../../config/schema/channels.ts";
import { isSecretName } from "../../../config/showing/redact.ts";
import type { PluginDefinition, TObject, TSchema } from "../../../sdk/contract.ts";
import { type Finding, finding } from "./finding.ts";
import { placeOfKey } from "./source-place.ts";

type Schema = TSchema & {
  readonly description?: unknown;
  readonly default?: unknown;
  readonly type?: unknown;
  readonly secret?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
};

/** Keys of an account that the gateway reads itself. */
const hostKeys = () => new Set(["enabled", "accounts", ...Object.keys(accessSchema.properties)]);

export function optionFindings(
  { options, channel, section, presets = [] }: PluginDefinition,
  entry: string,
): readonly Finding[] {
  return [
    ...(section === undefined ? [] : sectionFindings(section.schema as Schema, entry, `${section.key}.`)),
    ...presets.flatMap(({ id, settings }) =>
      settings === undefined ? [] : sectionFindings(settings, entry, `hooks.${id}.`),
    ),
    ...(options === undefined ? [] : schemaFindings(options, entry)),
    ...(channel === undefined ? [] : [...schemaFindings(channel.options, entry), ...channelFindings(channel, entry)]),
  ];
}

function schemaFindings(schema: TObject, entry: string, lead = ""): readonly Finding[] {
  return Object.entries(schema.properties as Readonly<Record<string, Schema>>).flatMap(([name, option]) => {
    const path = `${lead}${name}`;
    const at = placeOfKey(name, entry);
    const found: Finding[] = [];
    if (typeof option.description !== "string" || option.description.trim() === "")
      found.push(finding("option-description", `The option ${path} has no description`, at));
    if (option.default !== undefined) {
      const [problem] = validateSection(option, option.default, "default").problems;
      if (problem !== undefined)
        found.push(
          finding(
            "option-default",
            `The default of the option ${path} does not match its schema: ${problem.message}`,
            at,
          ),
        );
    }
    return option.properties === undefined
      ? found
      : [...found, ...schemaFindings(option as unknown as TObject, entry, `${path}.`)];
  });
}

/** The entries of a map are described like the keys of an object. */
function sectionFindings(schema: Schema, entry: string, lead: string): readonly Finding[] {
  const entries = Object.values(schema.patternProperties ?? {}).flatMap((inner) =>
    sectionFindings(inner, entry, `${lead}<name>.`),
  );
  if (schema.properties === undefined) return entries;
  const secrets = Object.entries(schema.properties)
    .filter(([name, { type, secret }]) => secret !== true && type === "string" && isSecretName(name))
    .map(([name]) =>
      finding(
        "option-secret",
        `The key ${lead}${name} looks like a secret, and is not declared with secretReference`,
        placeOfKey(name, entry),
        "Declare it with secretReference: then it can be a reference, and it is hidden wherever the " +
          "configuration is shown.",
      ),
    );
  return [...schemaFindings(schema as unknown as TObject, entry, lead), ...secrets, ...entries];
}

function channelFindings(
  { options, secrets = [], secretFiles = {} }: NonNullable<PluginDefinition["channel"]>,
  entry: string,
): readonly Finding[] {
  const taken = hostKeys();
  return Object.entries(options.properties as Readonly<Record<string, Schema>>).flatMap(([name, { type, secret }]) => {
    const at = placeOfKey(name, entry);
    const isSecret = secret !== true && (type === undefined || type === "string") && isSecretName(name);
    return [
      ...(taken.has(name) ? [finding("option-name", `The option ${name} has the name of a gateway option`, at)] : []),
      ...(isSecret && !secrets.includes(name) && secretFiles[name] === undefined
        ? [
            finding(
              "option-secret",
              `The option ${name} looks like a secret, and is neither listed in secrets nor declared with secretText`,
              at,
            ),
          ]
        : []),
    ];
  });
}
