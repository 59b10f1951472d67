/** Parses and checks allowlists of platform ids. An empty list admits no sender. */
import type { ChannelIdentity } from "../sdk/contract.ts";
import { type AccountAccess, type PathOf, pathsBelow } from "./place.ts";

export interface IdentityRule {
  /** Prefixes allowed before an id, in lower case, without the colon. */
  readonly prefixes: readonly string[];
  /** Matches a whole id. */
  readonly pattern: RegExp;
  /** The form in which ids compare. */
  fold(id: string): string;
  /** Whether a key of `groups` can be the id of a group. `*` is not an id. */
  isGroupId(key: string): boolean;
  /** Whether another person can take the id over. */
  isWeak(id: string): boolean;
}

export interface Allowlist {
  readonly everybody: boolean;
  readonly ids: ReadonlySet<string>;
  /** Entries that are not ids. They admit no sender. */
  readonly ignored: readonly string[];
}

export function identityRule(channel: string, declared: ChannelIdentity = {}): IdentityRule {
  const { fold = (id) => id, weak = false } = declared;
  const group = wholly(declared.groupPattern ?? "[\\s\\S]+");
  return {
    fold: (id) => {
      const folded = attempt(() => fold(id));
      return typeof folded === "string" ? folded : id;
    },
    // A channel that fails to answer makes no one an owner.
    isWeak: (id) => id !== "" && (typeof weak === "function" ? attempt(() => weak(id)) : weak) !== false,
    prefixes: [channel, ...(declared.prefixes ?? [])].map((prefix) => prefix.toLowerCase()),
    pattern: wholly(declared.pattern ?? "\\S+"),
    isGroupId: (key) => key !== "*" && group.test(key),
  };
}

const wholly = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`, "u");

/** These functions belong to a plugin; `undefined` if one throws. */
function attempt<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}

/** The id in an entry, `*`, or `null` when the entry is neither. */
export function parseAllowlistEntry(entry: string | number, rule: IdentityRule): string | null {
  const text = String(entry).trim();
  if (text === "*") return "*";
  const colon = text.indexOf(":");
  const bare = colon > 0 && rule.prefixes.includes(text.slice(0, colon).toLowerCase()) ? text.slice(colon + 1).trim() : text;
  return rule.pattern.test(bare) ? rule.fold(bare) : null;
}

export function parseAllowlist(entries: readonly (string | number)[], rule: IdentityRule): Allowlist {
  const ids = new Set<string>();
  const ignored: string[] = [];
  let everybody = false;
  for (const entry of entries) {
    const id = parseAllowlistEntry(entry, rule);
    if (id === "*") everybody = true;
    else if (id === null) ignored.push(String(entry));
    else ids.add(id);
  }
  return { everybody, ids, ignored };
}

export function allows(list: Allowlist, senderId: string): boolean {
  return list.everybody || (senderId !== "" && list.ids.has(senderId));
}

/**
 * Entries of an account's lists that are not ids, with the path of their list. They admit no sender, so the operator should learn of them.
 */
export function ignoredEntries(
  access: AccountAccess,
  rule: IdentityRule,
  path: string | PathOf,
): readonly { readonly path: string; readonly entry: string }[] {
  return senderLists(access, path).flatMap(({ entries, ...at }) =>
    parseAllowlist(entries, rule).ignored.map((entry) => ({ ...at, entry })),
  );
}

/** Keys of an account's `groups` that match no group, because they are not ids of this platform. */
export const misnamedGroups = ({ groups = {} }: AccountAccess, { isGroupId }: IdentityRule): readonly string[] =>
  Object.keys(groups).filter((key) => key !== "*" && !isGroupId(key));

/** Entries of an account's lists that another person can take over, with the path of their list. They make no one an owner. */
export function weakEntries(
  access: AccountAccess,
  rule: IdentityRule,
  path: string | PathOf,
): readonly { readonly path: string; readonly entry: string }[] {
  return senderLists(access, path).flatMap(({ entries, ...at }) =>
    [...parseAllowlist(entries, rule).ids].filter(rule.isWeak).map((entry) => ({ ...at, entry })),
  );
}

/** Every list of senders of an account. */
function senderLists(
  access: AccountAccess,
  path: string | PathOf,
): readonly { readonly path: string; readonly entries: readonly (string | number)[] }[] {
  const pathOf = typeof path === "string" ? pathsBelow(path) : path;
  const lists: [readonly string[], AccountAccess["allowFrom"]][] = [
    [["allowFrom"], access.allowFrom],
    [["groupAllowFrom"], access.groupAllowFrom],
  ];
  for (const [id, group] of Object.entries(access.groups ?? {})) {
    lists.push([["groups", id, "allowFrom"], group.allowFrom]);
    for (const [thread, topic] of Object.entries(group.topics ?? {}))
      lists.push([["groups", id, "topics", thread, "allowFrom"], topic.allowFrom]);
  }
  return lists.map(([keys, entries = []]) => ({ path: pathOf(keys), entries }));
}
