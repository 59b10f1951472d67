/** Parses and checks allowlists of platform ids. An empty list admits no sender. */
import { bareId, formsOf, type IdentityRule } from "./identity.ts";
import { type AccountAccess, type PathOf, pathsBelow } from "./place.ts";

export interface Allowlist {
  readonly everybody: boolean;
  readonly ids: ReadonlySet<string>;
  /** Entries that are not ids. They admit no sender. */
  readonly ignored: readonly string[];
}

/** The id in an entry, `*`, or `null` when the entry is neither. */
export function parseAllowlistEntry(entry: string | number, rule: IdentityRule): string | null {
  const bare = bareId(entry, rule);
  return bare === null || bare === "*" ? bare : rule.formOf(bare);
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
 * Entries of an account's lists that are not ids, with the path of their list. They admit no sender, so the operator
 * should learn of them.
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

/**
 * Entries of an account's lists that another person can take over, with the path of their list. They make no one an
 * owner.
 */
export async function weakEntries(
  access: AccountAccess,
  rule: IdentityRule,
  path: string | PathOf,
): Promise<readonly { readonly path: string; readonly entry: string }[]> {
  const lists = senderLists(access, path).map(async ({ entries, ...at }) =>
    (await weakIds(entries, rule)).map((entry) => ({ ...at, entry })),
  );
  return (await Promise.all(lists)).flat();
}

/** The ids in a list that another person can take over. */
export async function weakIds(entries: readonly (string | number)[], rule: IdentityRule): Promise<readonly string[]> {
  const judged = [...parseAllowlist(entries, rule).ids].map(async (id) => ((await rule.isWeak(id)) ? [id] : []));
  return (await Promise.all(judged)).flat();
}

/** The forms of all ids that an account's settings contain, and of the owners. */
export async function configuredForms(
  access: AccountAccess,
  owners: readonly (string | number)[],
  rule: IdentityRule,
): Promise<ReadonlyMap<string, string>> {
  const entries = [...senderLists(access, "").flatMap((list) => list.entries), ...owners];
  const ids = [...entries.flatMap((entry) => bareId(entry, rule) ?? []), ...Object.keys(access.groups ?? {})];
  return await formsOf(
    ids.filter((id) => id !== "*"),
    rule,
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
