/** Reads a channel's section of the configuration: the settings that each account is opened with, and the problems. */
import { type AccountAccess, identityRule, ignoredEntries, openPlaces, type PathOf, settingPath } from "../access/index.ts";
import {
  accessSchema,
  type ChannelAccountSection,
  changeMarked,
  channelAccounts,
  checkOpen,
  type Environment,
  expandPath,
  isRecord,
  nodeOf,
  type Problem,
  renderPath,
  renderProblem,
  type Secrets,
  unexpanded,
  validateSection,
} from "../config/index.ts";
import { reasonOf } from "../contract/index.ts";
import type { ChannelDefinition } from "../sdk/contract.ts";
import { withCredentials } from "./account-secrets.ts";

type Values = Readonly<Record<string, unknown>>;

export interface AccountSettings {
  readonly definition: ChannelDefinition;
  readonly id: string;
  readonly path: string;
  /** The channel's own options and the host's, with defaults and resolved secrets. */
  readonly options: Values;
  readonly access: AccountAccess;
  /** Connection settings as text: when they change, the account restarts. */
  readonly fingerprint: string;
}

export interface ReadAccount {
  readonly id: string;
  /** Configuration path, such as `channels.irc` or `channels.irc.accounts.work`. */
  readonly path: string;
  readonly problems: readonly Problem[];
  /** Absent if a problem is an error. */
  readonly settings?: AccountSettings;
}

interface From {
  readonly secrets: Secrets;
  readonly environment: Environment;
}

/** The enabled accounts, in the order of the file. */
export function readAccounts(definition: ChannelDefinition, section: unknown, from: From): readonly ReadAccount[] {
  const seen: SeenAccounts = new Map();
  const reported = new Set<string>();
  const before: AccountSettings[] = [];
  return channelAccounts(section, definition.credentials)
    .filter((account) => account.enabled)
    .map((account) => {
      const path = accountPath(definition.id, account);
      const pathOf = settingPath(section, definition.id, account.id);
      const { settings, problems: own } = readAccount(definition, account, path, from);
      // Every rule is checked whatever the others found, but an option that is already wrong is not reported twice.
      const wrong = own.filter(({ severity }) => severity === "error").map((problem) => problem.path);
      const isWrong = (place: string) =>
        wrong.includes(place) || wrong.includes(ownPath(place, { channel: definition.id, path })) || (wrong.length > 0 && place === path);
      // The check of the file itself does not know which channels sign in with root keys.
      const open =
        account.key === undefined && isRecord(section) && section.accounts !== undefined
          ? checkOpen(["channels", definition.id], account)
          : [];
      const found = [
        ...own,
        ...open.filter((problem) => !isWrong(problem.path)),
        ...contradictions(settings, { before, pathOf }).filter((problem) => !isWrong(problem.path)),
      ];
      const twin = wrong.length === 0 ? twinProblem(settings, { seen, at: credentialPlace(definition, account, pathOf) }) : undefined;
      if (twin !== undefined) found.push(twin);
      found.push(
        ...ignoredSenders(settings, pathOf),
        ...listsWithoutEffect(settings, pathOf),
        ...unexpandedTexts(definition, account, pathOf),
      );
      const isOff = found.some(({ severity }) => severity === "error");
      if (!isOff) before.push(settings);
      // A section that several accounts inherit is in the file once.
      const problems = found.filter((problem) => problem.severity === "error" || !reported.has(renderProblem(problem)));
      for (const problem of problems) reported.add(renderProblem(problem));
      return { id: account.id, path, problems, ...(isOff ? {} : { settings }) };
    });
}

/** The path of the account in the file. */
export function accountPath(channel: string, { key }: Pick<ChannelAccountSection, "key">): string {
  return renderPath(["channels", channel, ...(key === undefined ? [] : ["accounts", key])]);
}

/** A name in a list of ids looks like a permission but has no effect. */
function ignoredSenders({ definition, access }: AccountSettings, pathOf: PathOf): readonly Problem[] {
  return ignoredEntries(access, identityRule(definition.id, definition.identity), pathOf).map(({ path, entry }) => ({
    severity: "warning",
    path,
    message: `${JSON.stringify(entry)} is not a sender id and admits no one`,
    hint: "Names can change hands, so only ids are compared. The refusal of a sender contains the id, and /whoami prints it.",
  }));
}

/** A list of senders that looks like a restriction, although the policy admits every sender. */
function listsWithoutEffect({ access }: AccountSettings, pathOf: PathOf): readonly Problem[] {
  return openPlaces(access).map((keys) => ({
    severity: "warning",
    path: pathOf([...keys, "allowFrom"]),
    message: 'keeps nobody out, because groupPolicy is "open" here',
    hint: `Set ${pathOf([...keys, "groupPolicy"])} to "allowlist". With "open" the list decides only who may use commands and buttons.`,
  }));
}

/** The path that an option would have in the account's own section. Problems of the schemas are reported there. */
function ownPath(place: string, { channel, path }: { readonly channel: string; readonly path: string }): string {
  const root = `channels.${channel}`;
  return place.startsWith(path) || !place.startsWith(root) ? place : `${path}${place.slice(root.length)}`;
}

/** Texts that look like a variable. Secrets are excluded, because resolving them fails with a reason of its own. */
function unexpandedTexts({ secrets = [] }: ChannelDefinition, { raw }: ChannelAccountSection, pathOf: PathOf): readonly Problem[] {
  const plain = Object.fromEntries(Object.entries(raw).filter(([name]) => !secrets.includes(name)));
  return unexpanded(plain, []).map(({ at, path: _, ...problem }) => ({ ...problem, path: pathOf(at.map(String)) }));
}

/** `settings` are complete only if no problem is an error. */
function readAccount(
  definition: ChannelDefinition,
  account: ChannelAccountSection,
  path: string,
  from: From,
): Required<Pick<ReadAccount, "problems" | "settings">> {
  const names = { secrets: definition.secrets ?? [] };
  const access = validateSection(accessSchema, account.raw, path, { ...names, unknownKeys: "keep" });
  const { raw, problems: unresolved } = withCredentials(definition, account, path, from);
  const own = validateSection(definition.options, ownOptions(raw, definition), path, {
    ...names,
    known: Object.keys(accessSchema.properties),
  });
  const problems = [...unresolved, ...access.problems, ...own.problems];
  const ownValue = changeMarked(nodeOf(definition.options), own.value, [], {
    mark: "file",
    change: (file) => (typeof file === "string" ? expandPath(file, from.secrets.directory) : file),
  }) as Values;
  // An option that both schemas declare keeps the host's meaning and is also passed to the channel. Other values that the host's schema
  // allowed are unchanged, without defaults and with unresolved secrets, so only `own` is used for those.
  const options: Values = { ...ownValue, ...accessOptions(access.value) };
  const settings: AccountSettings = {
    definition,
    id: account.id,
    path,
    options,
    access: { ...(access.value as AccountAccess), fold: identityRule(definition.id, definition.identity).fold },
    fingerprint: fingerprintOf(definition, ownValue),
  };
  return { problems, settings };
}

/** Contains only what a connection depends on: a changed emoji must not interrupt a poll. */
function fingerprintOf({ connectionOptions }: ChannelDefinition, own: Values): string {
  return JSON.stringify(connectionOptions === undefined ? own : connectionOptions.map((name) => own[name] ?? null));
}

/** Problems between valid options, which only the channel can find. */
function contradictions(
  { definition, options, path }: AccountSettings,
  { before, pathOf }: { readonly before: readonly AccountSettings[]; readonly pathOf: PathOf },
): readonly Problem[] {
  try {
    const found = definition.check?.(options as never, { path, before: before as never }) ?? [];
    return found.map(({ option, message, hint, warning }) => ({
      severity: warning === true ? "warning" : "error",
      path: pathOf([option]),
      message,
      hint,
    }));
  } catch (error) {
    return [{ severity: "error", path, message: `cannot be checked by its channel: ${reasonOf(error)}` }];
  }
}

/** The credentials and identities of the accounts before this one, each with the place of its credential in the file. */
type SeenAccounts = Map<string, string>;

/** Two accounts with one credential, or of one bot, would take each other's events. */
function twinProblem(
  { definition, options, path }: AccountSettings,
  { seen, at }: { readonly seen: SeenAccounts; readonly at: string },
): Problem | undefined {
  const values = (definition.credentials ?? []).flatMap((name) => options[name] ?? []).filter((value) => typeof value === "string");
  const same = values.map((value) => seen.get(`credential ${value}`)).find((place) => place !== undefined);
  const id = signedInAs(definition, options);
  const other = same ?? (id === undefined ? undefined : seen.get(`id ${id}`));
  if (other === undefined) {
    for (const value of values) seen.set(`credential ${value}`, at);
    if (id !== undefined) seen.set(`id ${id}`, at);
    return undefined;
  }
  const message = same === undefined ? `signs in as ${id}, and so does ${other}` : `is the same as ${other}`;
  const hint = `Two accounts of the same bot take messages from each other. Give ${path} another credential, or remove it.`;
  return { severity: "error", path: at, message, hint };
}

/**
 * What only one account may hold: its credential, the identity it signs in as, and for channels without either, its connection settings. An
 * account that shares one of them with a closing account waits for that account.
 */
export function heldAlone({ definition, options, fingerprint }: AccountSettings): readonly string[] {
  const values = (definition.credentials ?? []).flatMap((name) => options[name] ?? []).filter((value) => typeof value === "string");
  const id = signedInAs(definition, options);
  return [...values.map((value) => `credential ${value}`), ...(id === undefined ? [] : [`id ${id}`]), `settings ${fingerprint}`];
}

/** If a channel cannot determine the identity, the platform has to detect duplicates. */
function signedInAs(definition: ChannelDefinition, options: Values): string | undefined {
  try {
    return definition.signsInAs?.(options as never);
  } catch {
    return undefined;
  }
}

/** The place of an account's credential: an option, wherever it is inherited from, otherwise an environment variable. */
function credentialPlace(
  { credentials = [], secretFiles = {}, environment = {} }: ChannelDefinition,
  { raw, own, id }: ChannelAccountSection,
  pathOf: PathOf,
): string {
  const hasOwn = credentials.some((name) => own[name] !== undefined);
  const from = id !== "default" || hasOwn ? own : raw;
  // A file takes precedence over the option itself.
  const name = [...Object.keys(secretFiles), ...credentials].find((one) => from[one] !== undefined);
  return name === undefined ? `$${Object.values(environment).join(", $")}` : pathOf([name]);
}

/** Removes options that only the host understands; a name that both declare is passed to both. */
function ownOptions(raw: Values, { options }: ChannelDefinition): Values {
  const { properties: own } = options;
  return Object.fromEntries(
    Object.entries(raw).filter(([name]) => Object.hasOwn(own, name) || !Object.hasOwn(accessSchema.properties, name)),
  );
}

function accessOptions(value: object): Values {
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(accessSchema.properties, name)));
}
