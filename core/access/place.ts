/** The options that apply to a group or topic, and the configuration entry that sets each of them. */
import { parsePath, renderPath } from "../config/index.ts";
import type { InboundChat } from "../contract/index.ts";

type Senders = readonly (string | number)[];
type GroupPolicy = "open" | "allowlist" | "disabled";

export interface PlaceAccess {
  readonly enabled?: boolean | undefined;
  readonly requireMention?: boolean | undefined;
  readonly groupPolicy?: GroupPolicy | undefined;
  readonly allowFrom?: Senders | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly systemPrompt?: string | undefined;
}

export interface GroupAccess extends PlaceAccess {
  readonly topics?: Readonly<Record<string, PlaceAccess>> | undefined;
}

/** The access options of one account, merged with those of its channel. */
export interface AccountAccess {
  /** The keys of `groups`, by the form in which the channel compares their ids; default: as they are. */
  readonly groupKeys?: ReadonlyMap<string, string> | undefined;
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: Senders | undefined;
  readonly groupPolicy?: GroupPolicy | undefined;
  readonly groupAllowFrom?: Senders | undefined;
  readonly groups?: Readonly<Record<string, GroupAccess>> | undefined;
  readonly bots?: { readonly limit?: number | undefined } | undefined;
}

/** Returns the configuration path of an option, given its keys below the account. */
export type PathOf = (keys: readonly string[]) => string;

export interface PlaceSettings {
  /** False if `groups` is set and contains neither the chat nor `*`. */
  readonly listed: boolean;
  /** False if the group or the topic is disabled; `off` says which of the two. */
  readonly enabled: boolean;
  readonly off?: "group" | "topic";
  /** Defaults to true. Direct chats need no mention. */
  readonly requireMention: boolean;
  readonly groupPolicy: GroupPolicy;
  readonly allowFrom: Senders;
  /** Absent: all skills; empty: none. */
  readonly skills?: readonly string[];
  /** The group's instructions, followed by the topic's. */
  readonly systemPrompt?: readonly string[];
  /** The configuration path of a setting, or the path at which to set it. */
  pathTo(setting: "listed" | "enabled" | "requireMention" | "groupPolicy" | "allowFrom"): string;
}

/** One entry of `groups` or of its topics that applies to the place. */
interface Layer {
  readonly keys: readonly string[];
  readonly own: PlaceAccess;
}

interface Found<T> {
  readonly value: T;
  /** The entry that sets the value. */
  readonly keys: readonly string[];
}

/**
 * The settings of a place. A group inherits missing fields from `*`, a topic from its group. `path` is the account's
 * path, or a function that finds the path of each option.
 */
export function placeSettings(access: AccountAccess, path: string | PathOf, chat: InboundChat): PlaceSettings {
  const { topics, groups } = layersOf(access, chat);
  const layers = [...topics, ...groups];
  const narrowest = layers[0]?.keys ?? ["groups", "*"];
  const say = <K extends keyof PlaceAccess>(
    field: K,
    among: readonly Layer[] = layers,
  ): Found<NonNullable<PlaceAccess[K]>> | undefined => {
    const layer = among.find(({ own }) => own[field] !== undefined);
    return layer && { value: layer.own[field] as NonNullable<PlaceAccess[K]>, keys: layer.keys };
  };
  const switchedOff = (among: readonly Layer[]) => {
    const switchOff = say("enabled", among);
    return switchOff?.value === false ? switchOff : undefined;
  };
  const [topicOff, groupOff] = [switchedOff(topics), switchedOff(groups)];
  const mention = say("requireMention");
  const skills = say("skills");
  const prompts = [say("systemPrompt", groups), say("systemPrompt", topics)].filter((one) => one !== undefined);
  const policy = say("groupPolicy");
  const senders = say("allowFrom");
  const off = topicOff === undefined ? (groupOff === undefined ? undefined : "group") : "topic";
  return {
    listed: access.groups === undefined || chat.kind === "direct" || groups.length > 0,
    enabled: off === undefined,
    off,
    requireMention: mention?.value ?? chat.kind !== "direct",
    groupPolicy: policy?.value ?? access.groupPolicy ?? "allowlist",
    allowFrom: senders?.value ?? access.groupAllowFrom ?? access.allowFrom ?? [],
    ...(skills === undefined ? {} : { skills: skills.value }),
    ...(prompts.length === 0 ? {} : { systemPrompt: prompts.map(({ value }) => value) }),
    // Computed on demand, because most callers need none of them.
    pathTo(setting) {
      const pathOf = typeof path === "string" ? pathsBelow(path) : path;
      const at = (keys: readonly string[] = narrowest) => pathOf([...keys, setting]);
      switch (setting) {
        case "listed":
          return pathOf(["groups"]);
        case "enabled":
          return at((topicOff ?? groupOff)?.keys);
        case "requireMention":
          return at(mention?.keys);
        case "groupPolicy":
          return policy === undefined ? pathOf(["groupPolicy"]) : at(policy.keys);
        case "allowFrom":
          return senders === undefined ? accountSendersPath(access, pathOf) : at(senders.keys);
      }
    },
  };
}

/** The groups and topics, as keys below the account, that list senders although their policy is `open`. */
export function openPlaces(access: AccountAccess): readonly (readonly string[])[] {
  return Object.entries(access.groups ?? {}).flatMap(([id, group]) => {
    const topics = Object.entries(group.topics ?? {}).map(([thread, topic]) => ({
      thread,
      own: topic,
      keys: ["groups", id, "topics", thread],
    }));
    const places: readonly { readonly thread?: string; readonly own: PlaceAccess; readonly keys: readonly string[] }[] =
      [{ own: group, keys: ["groups", id] }, ...topics];
    return places
      .filter(({ own, thread }) => {
        const chat = { id, kind: "group", thread } as const;
        return own.allowFrom !== undefined && placeSettings(access, "", chat).groupPolicy === "open";
      })
      .map(({ keys }) => keys);
  });
}

/** Places every option below one path, for configurations without inheritance. */
export function pathsBelow(path: string): PathOf {
  const base = parsePath(path) ?? [path];
  return (keys) => renderPath([...base, ...keys]);
}

/** The matching entries, most specific first: the group's topic, the topic of `*`, the group, `*`. */
function layersOf(
  access: AccountAccess,
  { id, kind, thread }: InboundChat,
): Record<"topics" | "groups", readonly Layer[]> {
  if (kind === "direct") return { topics: [], groups: [] };
  const all = access.groups;
  const groups = [groupKey(access, id) ?? id, "*"].flatMap((key) => {
    const own = ownOf(all, key);
    return own === undefined ? [] : [{ keys: ["groups", key], own }];
  });
  const topics = groups.flatMap(({ keys, own }) => {
    const topic = thread === undefined ? undefined : ownOf(own.topics, thread);
    return thread === undefined || topic === undefined ? [] : [{ keys: [...keys, "topics", thread], own: topic }];
  });
  return { topics, groups };
}

/** The key of a group in `groups`, in the form in which the configuration has it; `undefined` if it is not listed. */
export function groupKey({ groups = {}, groupKeys }: AccountAccess, id: string): string | undefined {
  return Object.hasOwn(groups, id) ? id : groupKeys?.get(id);
}

/** `formOf`: the form of an id that the configuration contains. Of two keys with one form, the first applies. */
export function groupKeysOf(
  { groups = {} }: AccountAccess,
  formOf: (key: string) => string,
): AccountAccess["groupKeys"] {
  const keys = Object.keys(groups).filter((key) => key !== "*");
  return new Map(keys.reverse().map((key) => [formOf(key), key]));
}

/** Checks own properties only, so that a chat named `constructor` is not found. */
function ownOf<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

/**
 * The path of the list in use: `groupAllowFrom`, else `allowFrom`. If both are empty, `groupAllowFrom` is the one to
 * fill.
 */
function accountSendersPath({ allowFrom = [], groupAllowFrom }: AccountAccess, pathOf: PathOf): string {
  return pathOf([groupAllowFrom === undefined && allowFrom.length > 0 ? "allowFrom" : "groupAllowFrom"]);
}
