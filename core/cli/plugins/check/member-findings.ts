/**
 * Members of a declaration that have no effect: those that the contract does not have, and those that nothing can use.
 */
import type {
  ChannelDefinition,
  CliCommand,
  CliDefinition,
  PluginDefinition,
  PresetDefinition,
} from "../../../sdk/contract.ts";
import type { StoreDefinition } from "../../../sdk/store.ts";
import { type Finding, finding } from "./finding.ts";
import { placeOfKey } from "./source-place.ts";

/** The members that a part of the contract has; the compiler compares them with its type. */
type Members<T> = Readonly<Record<keyof T, true>>;
type Section = NonNullable<PluginDefinition["section"]>;
type CliOption = NonNullable<CliCommand["options"]>[number];

const ofPlugin: Members<PluginDefinition> = {
  ...{ id: true, version: true, host: true, requires: true, options: true, optIn: true, section: true, presets: true },
  ...{ cli: true, codes: true, channel: true, store: true, setup: true },
};
const ofSection: Members<Section> = { key: true, of: true, schema: true, otherNames: true, check: true };
const ofPreset: Members<PresetDefinition> = { id: true, path: true, mappings: true, settings: true };
const ofCli: Members<CliDefinition> = { name: true, summary: true, groups: true, commands: true };
const ofCommand: Members<CliCommand> = {
  ...{
    name: true,
    args: true,
    options: true,
    summary: true,
    example: true,
    timeoutSeconds: true,
    prepares: true,
    run: true,
  },
};
const ofOption: Members<CliOption> = {
  name: true,
  summary: true,
  value: true,
  choices: true,
  repeatable: true,
  required: true,
};
const ofStore: Members<StoreDefinition> = {
  id: true,
  description: true,
  open: true,
  check: true,
  backupCommands: true,
};
const ofCode: Members<NonNullable<PluginDefinition["codes"]>[string]> = {
  meaning: true,
  hint: true,
  hintWhileRetrying: true,
  away: true,
  outcome: true,
};
const ofChannel: Members<ChannelDefinition> = {
  ...{
    id: true,
    version: true,
    host: true,
    codes: true,
    options: true,
    secrets: true,
    secretFiles: true,
    connectionOptions: true,
  },
  ...{
    cli: true,
    listing: true,
    credentials: true,
    signsInAs: true,
    check: true,
    environment: true,
    onboarding: true,
    capabilities: true,
    identity: true,
    platform: true,
    route: true,
    commandPrefix: true,
    platformFields: true,
    open: true,
  },
};
const ofCapabilities: Members<ChannelDefinition["capabilities"]> = {
  ...{
    maxChars: true,
    markup: true,
    edits: true,
    threads: true,
    reactions: true,
    media: true,
    buttons: true,
    typing: true,
  },
  ...{ menu: true, stickers: true, messageIds: true, repeats: true, typingEverySeconds: true },
  ...{ ephemeral: true, keepsWhileAway: true },
};
const ofIdentity: Members<NonNullable<ChannelDefinition["identity"]>> = {
  ...{ prefixes: true, pattern: true, groupPattern: true, fold: true, weak: true },
};

/** `unread`: sections that the plugin has not asked for; `undefined` if it did not come up. */
export function memberFindings(
  definition: PluginDefinition,
  unread: readonly string[] | undefined,
  entry: string,
): readonly Finding[] {
  return [
    ...unknownMembers(definition, entry),
    ...deadMembers(definition, entry),
    ...unreadSections(definition, unread ?? [], entry),
  ];
}

function unknownMembers(definition: PluginDefinition, entry: string): readonly Finding[] {
  const { section, presets = [], cli, codes = {}, channel, store } = definition;
  const parts: readonly (readonly [object | undefined, object, string])[] = [
    [definition, ofPlugin, "The declaration"],
    [section, ofSection, "section"],
    ...presets.map((preset) => [preset, ofPreset, `The preset ${preset.id}`] as const),
    [cli, ofCli, "cli"],
    ...(cli?.commands ?? []).flatMap((command) => [
      [command, ofCommand, `The command ${command.name}`] as const,
      ...(command.options ?? []).map(
        (option) => [option, ofOption, `The option ${option.name} of the command ${command.name}`] as const,
      ),
    ]),
    ...Object.entries(codes).map(([name, code]) => [code, ofCode, `The code ${name}`] as const),
    [channel, ofChannel, "The channel"],
    [channel?.capabilities, ofCapabilities, "capabilities"],
    [channel?.identity, ofIdentity, "identity"],
    [store, ofStore, "The store"],
  ];
  return parts.flatMap(([part, known, what]) =>
    Object.keys(part ?? {})
      .filter((name) => !Object.hasOwn(known, name))
      .map((name) =>
        finding(
          "member-unknown",
          `${what} has a member ${name}, which the gateway does not read`,
          placeOfKey(name, entry),
        ),
      ),
  );
}

function deadMembers(
  { options, requires, presets, codes, cli, channel, setup }: PluginDefinition,
  entry: string,
): readonly Finding[] {
  const isEmpty = (part: object | undefined) => part !== undefined && Object.keys(part).length === 0;
  const dead = (name: string, message: string) => finding("member-dead", message, placeOfKey(name, entry));
  const empty = Object.entries({ options: options?.properties, requires, presets, codes })
    .filter(([, part]) => isEmpty(part))
    .map(([name]) => dead(name, `${name} is empty`));
  const words = new Set((cli?.commands ?? []).map(({ name }) => name.split(" ", 1)[0] ?? ""));
  const groups = Object.keys(cli?.groups ?? {}).filter((word) => !words.has(word));
  return [
    ...empty,
    ...(cli?.commands?.length === 0 ? [dead("commands", "cli has no commands")] : []),
    ...groups.map((word) => dead(word, `No command begins with ${word}, for which cli.groups has a summary`)),
    ...(options !== undefined && !isEmpty(options.properties) && !takesOptions(setup)
      ? [dead("options", "setup does not take the options, so they have no effect")]
      : []),
    ...(channel === undefined
      ? []
      : deadNames(channel).map(([list, name]) => dead(list, `${list} names ${name}, which is not an option`))),
  ];
}

/** A parameter with a default, and those after it, are not counted. */
function takesOptions(setup: PluginDefinition["setup"]): boolean {
  const [parameters = ""] = String(setup).split(")", 1);
  return setup.length >= 2 || /[=]|\.\.\./.test(parameters);
}

/** Names of options that the channel does not have. */
function deadNames(channel: ChannelDefinition): readonly (readonly [list: string, name: string])[] {
  const {
    options,
    secrets = [],
    secretFiles = {},
    connectionOptions = [],
    credentials = [],
    environment = {},
  } = channel;
  const lists = {
    ...{ secrets, connectionOptions, credentials, environment: Object.keys(environment) },
    secretFiles: Object.entries(secretFiles).flat(),
  };
  return Object.entries(lists).flatMap(([list, names]) =>
    names.filter((name) => !Object.hasOwn(options.properties, name)).map((name) => [list, name] as const),
  );
}

function unreadSections({ section }: PluginDefinition, unread: readonly string[], entry: string): readonly Finding[] {
  return unread.map((path) => {
    const isPreset = path.startsWith("hooks.");
    const message = isPreset
      ? `The plugin does not read its settings in ${path}`
      : `The plugin does not read its section ${section?.key}`;
    return finding("section-unread", message, placeOfKey(isPreset ? "settings" : "section", entry));
  });
}
