/**
 * What the platform reports about an account: its identity, whether its groups can be reached, the ids of the names in
 * its lists.
 */
import {
  type AccountAccess,
  type IdentityRule,
  ignoredEntries,
  misnamedGroups,
  parseAllowlistEntry,
} from "../../access/index.ts";
import {
  type Answer,
  type Asking,
  type CalledConnection,
  createAsking,
  inTurns,
  pluginDeadlines,
} from "../../host/index.ts";
import type { ChannelMembership, ChannelProbe } from "../../sdk/contract.ts";

export interface ProbedAccount {
  readonly channel: string;
  readonly id: string;
  /** Configuration path of the account. */
  readonly path: string;
  readonly access: AccountAccess;
  readonly identity: IdentityRule;
  readonly connection: CalledConnection;
}

export interface NameReport {
  /** As written in the configuration. */
  readonly name: string;
  readonly id?: string;
  /** Why there is no id. */
  readonly reason?: string;
}

export interface ProbeReport {
  readonly channel: string;
  readonly account: string;
  readonly path: string;
  /** Absent if the channel cannot be probed. */
  readonly probe?: ChannelProbe;
  /** The groups that the configuration names by id. */
  readonly groups: readonly (ChannelMembership & { readonly chat: string })[];
  /** Keys of `groups` that cannot be checked: `*`, names, and keys beyond the limit. */
  readonly unprobed: readonly string[];
  /** Those of them that cannot be the id of a group on this platform. */
  readonly misnamed: readonly string[];
  /** Names used in place of sender ids, and whose they are. */
  readonly names: readonly NameReport[];
  /** The same for keys of `groups`. */
  readonly groupNames: readonly NameReport[];
}

export interface ProbeOptions {
  /** Looks up names in allowlists too. */
  readonly names?: boolean;
}

/** A platform slows down a caller that asks for more, and the operator waits. */
const maxAsked = 50;

export async function probeAccount(account: ProbedAccount, { names = false }: ProbeOptions = {}): Promise<ProbeReport> {
  const { channel, id, path, access, connection, identity } = account;
  const keys = Object.keys(access.groups ?? {});
  const base = { channel, account: id, path, misnamed: misnamedGroups(access, identity) };
  const asking = createAsking(pluginDeadlines.probe);
  const probe = await askProbe(connection, asking);
  // If the credential was refused, or there is no network, every other question would fail in the same way.
  if (probe?.ok !== true)
    return { ...base, ...(probe && { probe }), groups: [], unprobed: keys, names: [], groupNames: [] };
  const asked = connection.members === undefined ? [] : keys.filter(identity.isGroupId).slice(0, maxAsked);
  return {
    ...base,
    probe,
    groups: await inTurns(asked, (chat) => askGroup(chat, connection, asking)),
    unprobed: keys.filter((key) => !asked.includes(key)),
    names: names
      ? await inTurns(namesOf(account).slice(0, maxAsked), (name) => lookUpSender(name, account, asking))
      : [],
    groupNames: names
      ? await inTurns(base.misnamed.filter(isName).slice(0, maxAsked), (name) => lookUpGroup(name, account, asking))
      : [],
  };
}

async function askProbe(connection: CalledConnection, asking: Asking): Promise<ChannelProbe | undefined> {
  if (connection.probe === undefined) return undefined;
  const answer = await asking.ask(async () => await connection.probe?.());
  return "why" in answer ? { ok: false, detail: answer.why } : answer.value;
}

async function askGroup(
  chat: string,
  connection: CalledConnection,
  asking: Asking,
): Promise<ProbeReport["groups"][number]> {
  const answer = await asking.ask(async () => await connection.members?.(chat));
  if ("why" in answer) return { chat, ok: false, detail: answer.why };
  return answer.value === undefined
    ? { chat, ok: false, detail: "the channel cannot check this" }
    : { chat, ...answer.value };
}

/** Names such as `@name` among the entries that are not ids. */
function namesOf({ access, identity, path }: ProbedAccount): readonly string[] {
  const entries = ignoredEntries(access, identity, path).map(({ entry }) => entry);
  return [...new Set(entries.filter((entry) => nameOf(entry, identity) !== undefined))];
}

/** `@name` from `@name` or `tg:@name`, in lower or upper case. */
function nameOf(entry: string, { prefixes }: IdentityRule): string | undefined {
  const text = entry.trim();
  const colon = text.indexOf(":");
  const bare = colon > 0 && prefixes.includes(text.slice(0, colon).toLowerCase()) ? text.slice(colon + 1).trim() : text;
  return isName(bare) ? bare : undefined;
}

const isName = (text: string): boolean => text.startsWith("@");

async function lookUpSender(entry: string, account: ProbedAccount, asking: Asking): Promise<NameReport> {
  const found = await lookUp(nameOf(entry, account.identity) ?? entry, account, asking);
  if ("why" in found) return { name: entry, reason: found.why };
  // The connection has brought the id into its form.
  const sender = parseAllowlistEntry(found.value, account.identity);
  return sender === null
    ? { name: entry, reason: `it is a chat (${found.value}) and not a person` }
    : { name: entry, id: sender };
}

async function lookUpGroup(name: string, account: ProbedAccount, asking: Asking): Promise<NameReport> {
  const found = await lookUp(name, account, asking);
  if ("why" in found) return { name, reason: found.why };
  const isPerson = parseAllowlistEntry(found.value, account.identity) !== null;
  return isPerson ? { name, reason: `it is a person (${found.value}) and not a group` } : { name, id: found.value };
}

async function lookUp(name: string, { connection }: ProbedAccount, asking: Asking): Promise<Answer<string>> {
  const { resolve } = connection;
  return resolve === undefined
    ? { why: "the channel cannot look up names" }
    : await asking.ask(async () => await resolve.call(connection, name));
}
