/** Reads a channel's section of the configuration: the settings that each account is opened with, and the problems. */
import {
  type AccountAccess,
  configuredForms,
  groupKeysOf,
  type IdentityRule,
  identityRule,
  ignoredEntries,
  openPlaces,
  type PathOf,
  settingPath,
} from "../access/index.ts";
import {
  accessSchema,
  type ChannelAccountSection,
  changeMarked,
  channelAccounts,
  checkOpen,
  expandPath,
  isRecord,
  nodeOf,
  type Problem,
  renderPath,
  renderProblem,
  unexpanded,
  validateSection,
} from "../config/index.ts";
import { type CalledChannel, capabilitiesOf } from "../host/index.ts";
import type { ChannelCapabilities } from "../sdk/contract.ts";
import { checkAll, errorsIn, uncheckable } from "./account-check.ts";
import { type CredentialSources, credentialPlace, withCredentials } from "./account-credentials.ts";
import { unencryptedSecret } from "./account-encryption.ts";

type Values = Readonly<Record<string, unknown>>;

/** Before the channel has been asked. An account whose channel gives no answer does not open. */
const noneYet: ChannelCapabilities = { maxChars: 1 };

export interface AccountSettings {
  readonly definition: CalledChannel;
  readonly id: string;
  readonly path: string;
  /** The channel's own options and the host's, with defaults and resolved secrets. */
  readonly options: Values;
  readonly access: AccountAccess;
  readonly identity: IdentityRule;
  /** The identity on the platform, if the options contain it; see `ChannelDefinition.signsInAs`. */
  readonly signsInAs?: string | undefined;
  readonly capabilities: ChannelCapabilities;
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

export interface ReadFrom extends CredentialSources {
  /** `commands.ownerAllowFrom`: its ids are compared with those of every channel. Default: none. */
  readonly owners?: readonly (string | number)[] | undefined;
}

/** An account as it was read, before the channel has compared it with the others. */
interface Draft {
  readonly account: ChannelAccountSection;
  readonly path: string;
  readonly pathOf: PathOf;
  readonly settings: AccountSettings;
  /** Problems that the schemas found. `settings` are complete only if none is an error. */
  readonly own: readonly Problem[];
  /** Problems of the access options, and of the channel's own functions. */
  readonly more: readonly Problem[];
  /** The channel's functions failed, so its `check` is not called. */
  readonly isUnjudged: boolean;
  /** It is the same bot as that of an earlier account. */
  readonly twin?: Problem | undefined;
}

/**
 * The enabled accounts, in the order of the file. All are read at once, so that a channel that does not answer costs
 * one deadline, and not one for each account.
 */
export async function readAccounts(
  definition: CalledChannel,
  section: unknown,
  from: ReadFrom,
): Promise<readonly ReadAccount[]> {
  const accounts = channelAccounts(section, definition.credentials).filter(({ enabled }) => enabled);
  const read = await Promise.all(accounts.map((account) => readDraft(definition, account, { section, from })));
  const seen: SeenAccounts = new Map();
  const drafts = read.map((draft): Draft => {
    const at = (name?: string) => credentialPlace(definition, draft.account, draft.pathOf, name);
    return { ...draft, twin: errorsIn(draft.own).length === 0 ? twinProblem(draft.settings, { seen, at }) : undefined };
  });
  const between = await checkAll(drafts, problemsOf);
  const reported = new Set<string>();
  return drafts.map((draft, index) => {
    const found = problemsOf(draft, between[index]);
    const isOff = errorsIn(found).length > 0;
    // A section that several accounts inherit is in the file once.
    const problems = found.filter((problem) => problem.severity === "error" || !reported.has(renderProblem(problem)));
    for (const problem of problems) reported.add(renderProblem(problem));
    return { id: draft.account.id, path: draft.path, problems, ...(isOff ? {} : { settings: draft.settings }) };
  });
}

async function readDraft(
  definition: CalledChannel,
  account: ChannelAccountSection,
  { section, from }: { readonly section: unknown; readonly from: ReadFrom },
): Promise<Draft> {
  const path = accountPath(definition.id, account);
  const pathOf = settingPath(section, definition.id, account.id);
  const { settings: written, problems: own } = readSettings(definition, account, path, from);
  // The check of the file itself does not know which channels sign in with root keys.
  const open =
    account.key === undefined && isRecord(section) && section.accounts !== undefined
      ? checkOpen(["channels", definition.id], account)
      : [];
  const { settings, problems: unjudged } = await judged(written, from.owners ?? [], errorsIn(own).length === 0);
  return { account, path, pathOf, settings, own, more: [...open, ...unjudged], isUnjudged: unjudged.length > 0 };
}

/**
 * Every problem of an account. Each rule is checked whatever the others found, but an option that is already wrong is
 * not reported twice.
 */
function problemsOf(
  { settings, account, path, pathOf, own, more, twin }: Draft,
  between: readonly Problem[] = [],
): readonly Problem[] {
  const wrong = errorsIn(own).map((problem) => problem.path);
  const isWrong = (place: string) =>
    wrong.includes(place) ||
    wrong.includes(ownPath(place, { channel: settings.definition.id, path })) ||
    (wrong.length > 0 && place === path);
  return [
    ...own,
    ...[...more, ...between].filter((problem) => !isWrong(problem.path)),
    ...(twin === undefined ? [] : [twin]),
    ...unencryptedSecret(settings.definition, settings.options, pathOf),
    ...ignoredSenders(settings, pathOf),
    ...listsWithoutEffect(settings, pathOf),
    ...unexpandedTexts(settings.definition, account, pathOf),
  ];
}

/** Adds what only the channel's own functions know. `isComplete`: the options have no error. */
async function judged(
  written: AccountSettings,
  owners: readonly (string | number)[],
  isComplete: boolean,
): Promise<Required<Pick<ReadAccount, "problems" | "settings">>> {
  const { definition, access, options, path } = written;
  const { id, identity: declared } = definition;
  try {
    const signsInAs = await signedInAs(definition, options);
    const capabilities = isComplete ? await capabilitiesOf(definition, options) : written.capabilities;
    const settings = { ...written, signsInAs, capabilities };
    if (declared?.fold === undefined) return { settings, problems: [] };
    const identity = identityRule(id, declared, await configuredForms(access, owners, settings.identity));
    const inForm = { ...access, groupKeys: groupKeysOf(access, identity.formOf) };
    return { settings: { ...settings, identity, access: inForm }, problems: [] };
  } catch (error) {
    return { settings: written, problems: [uncheckable(path, error)] };
  }
}

/** The path of the account in the file. */
export function accountPath(channel: string, { key }: Pick<ChannelAccountSection, "key">): string {
  return renderPath(["channels", channel, ...(key === undefined ? [] : ["accounts", key])]);
}

/** A name in a list of ids looks like a permission but has no effect. */
function ignoredSenders({ access, identity }: AccountSettings, pathOf: PathOf): readonly Problem[] {
  return ignoredEntries(access, identity, pathOf).map(({ path, entry }) => ({
    severity: "warning",
    path,
    message: `${JSON.stringify(entry)} is not a sender id and admits no one`,
    hint:
      "Names can change hands, so only ids are compared. The refusal of a sender contains the id, and " +
      "/whoami prints it.",
  }));
}

/** A list of senders that looks like a restriction, although the policy admits every sender. */
function listsWithoutEffect({ access }: AccountSettings, pathOf: PathOf): readonly Problem[] {
  return openPlaces(access).map((keys) => ({
    severity: "warning",
    path: pathOf([...keys, "allowFrom"]),
    message: 'keeps nobody out, because groupPolicy is "open" here',
    hint:
      `Set ${pathOf([...keys, "groupPolicy"])} to "allowlist". With "open" the list decides only who ` +
      "may use commands and buttons.",
  }));
}

/** The path that an option would have in the account's own section. Problems of the schemas are reported there. */
function ownPath(place: string, { channel, path }: { readonly channel: string; readonly path: string }): string {
  const root = `channels.${channel}`;
  return place.startsWith(path) || !place.startsWith(root) ? place : `${path}${place.slice(root.length)}`;
}

/** Texts that look like a variable. Secrets are excluded, because resolving them fails with a reason of its own. */
function unexpandedTexts(
  { secrets = [] }: CalledChannel,
  { raw }: ChannelAccountSection,
  pathOf: PathOf,
): readonly Problem[] {
  const plain = Object.fromEntries(Object.entries(raw).filter(([name]) => !secrets.includes(name)));
  return unexpanded(plain, []).map(({ at, path: _, ...problem }) => ({ ...problem, path: pathOf(at.map(String)) }));
}

/** What the schemas know. `settings` are complete only if no problem is an error. */
function readSettings(
  definition: CalledChannel,
  account: ChannelAccountSection,
  path: string,
  from: ReadFrom,
): Required<Pick<ReadAccount, "problems" | "settings">> {
  const names = { secrets: definition.secrets ?? [] };
  const access = validateSection(accessSchema, account.raw, path, { ...names, unknownKeys: "keep" });
  const { raw, problems: unresolved } = withCredentials(definition, account, path, from);
  const own = validateSection(definition.options, ownOptions(raw, definition), path, {
    ...names,
    known: Object.keys(accessSchema.properties),
  });
  // A secret that cannot be read is set, so it is not also missing.
  const unread = new Set(unresolved.map((problem) => problem.path));
  for (const [file, name] of Object.entries(definition.secretFiles ?? {}))
    if (unread.has(`${path}.${file}`)) unread.add(`${path}.${name}`);
  const problems = [...unresolved, ...access.problems, ...own.problems.filter((problem) => !unread.has(problem.path))];
  // Nothing is left of a section in which a required option is wrong.
  const ownValue = changeMarked(nodeOf(definition.options), own.value ?? {}, [], {
    mark: "file",
    change: (file) => (typeof file === "string" ? expandPath(file, from.secrets.directory) : file),
  }) as Values;
  // An option that both schemas declare keeps the host's meaning and is also passed to the channel. Other values that
  // the host's schema allowed are unchanged, without defaults and with unresolved secrets, so only `own` is used for
  // those.
  const options: Values = { ...ownValue, ...accessOptions(access.value) };
  const settings: AccountSettings = {
    definition,
    id: account.id,
    path,
    options,
    access: access.value as AccountAccess,
    identity: identityRule(definition.id, definition.identity),
    capabilities: typeof definition.capabilities === "function" ? noneYet : definition.capabilities,
    // There is no value if a required option is wrong; the account is not opened then.
    fingerprint: fingerprintOf(definition, ownValue ?? {}),
  };
  return { problems, settings };
}

/** Contains only what a connection depends on: a changed emoji must not interrupt a poll. */
function fingerprintOf({ connectionOptions }: CalledChannel, own: Values): string {
  return JSON.stringify(connectionOptions === undefined ? own : connectionOptions.map((name) => own[name] ?? null));
}

/**
 * The credentials and identities of the accounts before this one, each with the place of its credential in the file.
 */
type SeenAccounts = Map<string, string>;

/** Two accounts with one credential, or of one bot, would take each other's events. */
function twinProblem(
  { definition, options, path, signsInAs: id }: AccountSettings,
  { seen, at }: { readonly seen: SeenAccounts; readonly at: (name?: string) => string },
): Problem | undefined {
  const values = (definition.credentials ?? []).flatMap((name) => {
    const value = options[name];
    return typeof value === "string" ? [{ name, key: `credential ${value}` }] : [];
  });
  const same = values.find(({ key }) => seen.has(key));
  const other = same === undefined ? seen.get(`id ${id}`) : seen.get(same.key);
  if (other === undefined) {
    for (const { name, key } of values) seen.set(key, at(name));
    if (id !== undefined) seen.set(`id ${id}`, at());
    return undefined;
  }
  const message = same === undefined ? `signs in as ${id}, and so does ${other}` : `is the same as ${other}`;
  const hint = `Two accounts of one bot take messages from each other. Give ${path} another credential, or remove it.`;
  return { severity: "error", path: at(same?.name), message, hint };
}

/**
 * What only one account may hold: its credential, the identity it signs in as, and for channels without either, its
 * connection settings. An account that shares one of them with a closing account waits for that account.
 */
export function heldAlone({ definition, options, fingerprint, signsInAs: id }: AccountSettings): readonly string[] {
  const values = (definition.credentials ?? [])
    .flatMap((name) => options[name] ?? [])
    .filter((value) => typeof value === "string");
  return [
    ...values.map((value) => `credential ${value}`),
    ...(id === undefined ? [] : [`id ${id}`]),
    `settings ${fingerprint}`,
  ];
}

/**
 * If a channel cannot determine the identity, the platform has to detect duplicates. Rejects if the worker of the
 * channel does not answer.
 */
async function signedInAs(definition: CalledChannel, options: Values): Promise<string | undefined> {
  try {
    return definition.signsInAs?.(options as never);
  } catch {
    return undefined;
  }
}

/** Removes options that only the host understands; a name that both declare is passed to both. */
function ownOptions(raw: Values, { options }: CalledChannel): Values {
  const { properties: own } = options;
  return Object.fromEntries(
    Object.entries(raw).filter(([name]) => Object.hasOwn(own, name) || !Object.hasOwn(accessSchema.properties, name)),
  );
}

function accessOptions(value: object): Values {
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(accessSchema.properties, name)));
}
