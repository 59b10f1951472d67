/**
 * Splits a channel's section into its accounts. Root keys are defaults for every account. Schema defaults are applied
 * later.
 */
import { isRecord } from "./validate.ts";

type Raw = Readonly<Record<string, unknown>>;

export interface ChannelAccountSection {
  /** The account id in lower case; `default` if the root keys form an account. */
  readonly id: string;
  /** False if the account or the whole channel is disabled. */
  readonly enabled: boolean;
  /** The account's options, merged with the root's but without schema defaults and `accounts`. */
  readonly raw: Raw;
  /** The account's own entry under `accounts`, without root keys; empty for the account of the root keys. */
  readonly own: Raw;
  /** The key under `accounts` as written in the file; absent for the account of the root keys. */
  readonly key?: string;
}

/** Keys that are merged key by key. Any other key of an account replaces that of the root. */
const mergedKeys: ReadonlySet<string> = new Set(["groups", "actions", "retry", "network", "capabilities"]);

const accountId = /^[a-z0-9_-]{1,64}$/;

/** The id in its normalized form; `undefined` if it is not a valid account id. */
export function normalizeAccountId(id: string): string | undefined {
  const lower = id.trim().toLowerCase();
  return accountId.test(lower) ? lower : undefined;
}

/**
 * Lists the accounts in the order of the file. Invalid and duplicate ids are left out; loading reports them.
 * `credentials` names the options that an account signs in with. If the root sets one of them, the root keys form the
 * account `default` in addition to the named accounts.
 */
export function channelAccounts(
  section: unknown,
  credentials: readonly string[] = [],
): readonly ChannelAccountSection[] {
  if (!isRecord(section)) return [];
  const { accounts, ...root } = section;
  const channelOn = root.enabled !== false;
  if (!isRecord(accounts) || Object.keys(accounts).length === 0)
    return [{ id: "default", enabled: channelOn, raw: root, own: {} }];
  const merged = new Map<string, ChannelAccountSection>();
  const isAccount = credentials.some((name) => root[name] !== undefined);
  const namesDefault = Object.keys(accounts).some((name) => normalizeAccountId(name) === "default");
  if (isAccount && !namesDefault) merged.set("default", { id: "default", enabled: channelOn, raw: root, own: {} });
  for (const [name, own] of Object.entries(accounts)) {
    const id = normalizeAccountId(name);
    if (id === undefined || merged.has(id) || !isRecord(own)) continue;
    const enabled = channelOn && own.enabled !== false;
    merged.set(id, { id, enabled, raw: { ...mergeAccount(root, own), enabled }, own, key: name });
  }
  return [...merged.values()];
}

/**
 * An account's own entry as written in the file, without merging; `undefined` if the section has no account with that
 * id.
 */
export function accountEntry(
  section: unknown,
  accountId: string,
): { readonly key: string; readonly own: Raw } | undefined {
  const accounts = isRecord(section) ? section.accounts : undefined;
  if (!isRecord(accounts)) return undefined;
  for (const key of Object.keys(accounts)) {
    const own = accounts[key];
    if (isRecord(own) && normalizeAccountId(key) === accountId) return { key, own };
  }
  return undefined;
}

function mergeAccount(root: Raw, own: Raw): Raw {
  const merged: Record<string, unknown> = { ...root };
  for (const [key, value] of Object.entries(own)) {
    merged[key] = mergedKeys.has(key) ? mergeKeys(root[key], value, key === "groups" ? mergeGroup : replace) : value;
  }
  return merged;
}

function mergeKeys(base: unknown, own: unknown, mergeValue: (base: unknown, own: unknown) => unknown): unknown {
  if (!isRecord(base) || !isRecord(own)) return own;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(own)) {
    merged[key] = Object.hasOwn(base, key) ? mergeValue(base[key], value) : value;
  }
  return merged;
}

const replace = (_base: unknown, own: unknown) => own;

// Groups are merged field by field: an account that only sets `requireMention` of a group must not lose the group's
// `allowFrom`.
const mergeGroup = (base: unknown, own: unknown): unknown => {
  const merged = mergeKeys(base, own, replace);
  if (!isRecord(base) || !isRecord(own) || !isRecord(base.topics) || !isRecord(own.topics) || !isRecord(merged))
    return merged;
  return { ...merged, topics: mergeKeys(base.topics, own.topics, (a, b) => mergeKeys(a, b, replace)) };
};
