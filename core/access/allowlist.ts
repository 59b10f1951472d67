/** Parses and checks allowlists of platform ids. An empty list admits no sender. */
import { type AccountAccess, type PathOf, pathsBelow } from "./place.ts";

export interface IdentityRule {
  /** Prefixes allowed before an id, in lower case, without the colon. */
  readonly prefixes: readonly string[];
  /** Matches a whole id. */
  readonly pattern: RegExp;
}

export interface Allowlist {
  readonly everybody: boolean;
  readonly ids: ReadonlySet<string>;
  /** Entries that are not ids. They admit no sender. */
  readonly ignored: readonly string[];
}

export function identityRule(
  channel: string,
  declared: { readonly prefixes?: readonly string[]; readonly pattern?: string } = {},
): IdentityRule {
  return {
    prefixes: [channel, ...(declared.prefixes ?? [])].map((prefix) => prefix.toLowerCase()),
    pattern: new RegExp(`^(?:${declared.pattern ?? "\\S+"})$`, "u"),
  };
}

/** The id in an entry, `*`, or `null` when the entry is neither. */
export function parseAllowlistEntry(entry: string | number, rule: IdentityRule): string | null {
  const text = String(entry).trim();
  if (text === "*") return "*";
  const colon = text.indexOf(":");
  const bare = colon > 0 && rule.prefixes.includes(text.slice(0, colon).toLowerCase()) ? text.slice(colon + 1).trim() : text;
  return rule.pattern.test(bare) ? bare : null;
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
  return lists.flatMap(([keys, entries = []]) => parseAllowlist(entries, rule).ignored.map((entry) => ({ path: pathOf(keys), entry })));
}
