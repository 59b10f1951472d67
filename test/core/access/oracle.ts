/**
 * A second reading of the access rules, to hold the first one against. It is written from the specification alone and
 * in another manner: a setting is looked for in the file by the dotted paths that may hold it, in the order in which
 * they count.
 */

/** Options of an account as they stand in the file. */
export type Options = Readonly<Record<string, unknown>>;

export interface Situation {
  readonly options: Options;
  readonly chat: "direct" | "group" | "channel";
  readonly thread?: string;
  readonly entry: "message" | "command" | "edit" | "press" | "reaction" | "post";
  /** The id that the platform vouches for; absent for who writes as a chat, and where there is none. */
  readonly identity?: string;
  /** Addressed by a reply, by an entity or a word of the text, or not at all. */
  readonly addressed: "reply" | "entity" | "word" | "no";
  /** The sender is a bot. */
  readonly bot?: true;
  /** What `/activation` said in the group. */
  readonly activation?: "always" | "mention";
  /** A pairing code of this sender was approved. */
  readonly approved: boolean;
}

export interface Expected {
  readonly verdict: "in" | "out" | "silent";
  readonly code: string;
  /** Below the account. */
  readonly path: string;
}

export const groupId = "-100";

export function expected(situation: Situation): Expected {
  return situation.chat === "direct" ? ofDirect(situation) : ofGroup(situation);
}

const allow = (code: string, path: string): Expected => ({ verdict: "in", code, path });
const deny = (code: string, path: string): Expected => ({ verdict: "out", code, path });

function ofDirect({ options, identity, approved, bot }: Situation): Expected {
  if (bot) return ofDirectBot(options, identity, approved);
  const everybody = contains(options.allowFrom, "*");
  const named = everybody || contains(options.allowFrom, identity);
  switch (options.dmPolicy) {
    case "disabled":
      return deny("dm_disabled", "dmPolicy");
    case "open":
      return everybody ? allow("dm_open", "dmPolicy") : deny("dm_open_without_star", "allowFrom");
    case "allowlist":
      return named ? allow("sender_allowed", "allowFrom") : deny("sender_not_allowed", "allowFrom");
    default:
      if (named) return allow("sender_allowed", "allowFrom");
      if (identity === undefined) return deny("sender_not_allowed", "allowFrom");
      return approved ? allow("sender_paired", "dmPolicy") : deny("pairing_required", "dmPolicy");
  }
}

/** What lets everybody in lets no bot in. */
function ofDirectBot(options: Options, identity: string | undefined, approved: boolean): Expected {
  if (options.dmPolicy === "disabled") return deny("dm_disabled", "dmPolicy");
  if (options.dmPolicy === "open" && !contains(options.allowFrom, "*"))
    return deny("dm_open_without_star", "allowFrom");
  if (contains(options.allowFrom, identity)) return allow("sender_allowed", "allowFrom");
  const pairs = options.dmPolicy === undefined || options.dmPolicy === "pairing";
  return pairs && approved
    ? allow("sender_paired", "dmPolicy")
    : { verdict: "silent", code: "bot_not_listed", path: "allowFrom" };
}

function ofGroup(situation: Situation): Expected {
  const { options, thread, identity } = situation;
  const groupEntries = [`groups.${groupId}`, "groups.*"];
  const topicEntries = thread === undefined ? [] : groupEntries.map((entry) => `${entry}.topics.${thread}`);
  const anywhere = (field: string) =>
    firstSet(
      options,
      [...topicEntries, ...groupEntries].map((entry) => `${entry}.${field}`),
    );

  const topicSwitch = firstSet(
    options,
    topicEntries.map((entry) => `${entry}.enabled`),
  );
  if (topicSwitch?.value === false) return deny("topic_disabled", topicSwitch.path);
  const groupSwitch = firstSet(
    options,
    groupEntries.map((entry) => `${entry}.enabled`),
  );
  if (groupSwitch?.value === false) return deny("group_disabled", groupSwitch.path);

  if (options.groups !== undefined && firstSet(options, groupEntries) === undefined)
    return deny("group_not_listed", "groups");

  const policy = anywhere("groupPolicy") ?? { path: "groupPolicy", value: options.groupPolicy ?? "allowlist" };
  if (policy.value === "disabled") return deny("group_policy_disabled", policy.path);
  const nobodyNamed = Array.isArray(options.allowFrom) ? options.allowFrom.length === 0 : true;
  const list = anywhere("allowFrom") ??
    firstSet(options, nobodyNamed ? ["groupAllowFrom"] : ["groupAllowFrom", "allowFrom"]) ?? {
      path: "groupAllowFrom",
      value: [],
    };
  const listed = contains(list.value, "*") || contains(list.value, identity);
  let passed = allow("group_open", policy.path);
  if (policy.value === "allowlist") {
    if (!listed) return deny("group_sender_not_allowed", list.path);
    passed = allow("group_sender_allowed", list.path);
  }
  if (situation.bot) {
    if (!contains(list.value, identity)) return { verdict: "silent", code: "bot_not_listed", path: list.path };
    const named = situation.addressed === "entity" || situation.addressed === "word";
    return named ? passed : { verdict: "silent", code: "mention_required", path: "" };
  }
  // The command of these cases is a control command, which a listed sender may give without a mention.
  if (situation.entry === "command" && listed) return passed;

  if (situation.addressed !== "no" || situation.entry === "press" || situation.entry === "reaction") return passed;
  // What is said in the chat is in no file, so there is no path.
  if (situation.activation === "mention") return { verdict: "silent", code: "mention_required", path: "" };
  const needed = anywhere("requireMention");
  if (situation.activation === "always" || needed?.value === false) return passed;
  const narrowest =
    [...topicEntries, ...groupEntries].find((entry) => firstSet(options, [entry]) !== undefined) ?? "groups.*";
  return { verdict: "silent", code: "mention_required", path: needed?.path ?? `${narrowest}.requireMention` };
}

/** Entries that count: `*`, and digits, with one of the known prefixes or without. */
function contains(list: unknown, wanted: string | undefined): boolean {
  if (!Array.isArray(list) || wanted === undefined) return false;
  return list.some(
    (entry) =>
      String(entry)
        .trim()
        .toLowerCase()
        .replace(/^(?:botchat|tg|telegram):\s*/, "") === wanted,
  );
}

/** The keys of the dotted paths; the paths are few, the situations many. */
const keysOf = new Map<string, readonly string[]>();

function firstSet(
  options: Options,
  paths: readonly string[],
): { readonly path: string; readonly value: unknown } | undefined {
  for (const path of paths) {
    let value: unknown = options;
    const keys = keysOf.get(path) ?? path.split(".");
    keysOf.set(path, keys);
    for (const key of keys) value = (value as Record<string, unknown> | undefined)?.[key];
    if (value !== undefined) return { path, value };
  }
  return undefined;
}
