/** What of an account's options holds at one place, a group or one of its topics, and which entry of the file says so. */
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

/** The access options of one account, accounts merged. */
export interface AccountAccess {
  readonly dmPolicy?: "pairing" | "allowlist" | "open" | "disabled" | undefined;
  readonly allowFrom?: Senders | undefined;
  readonly groupPolicy?: GroupPolicy | undefined;
  readonly groupAllowFrom?: Senders | undefined;
  readonly groups?: Readonly<Record<string, GroupAccess>> | undefined;
}

/** The configuration path of an option, by its keys below the account. */
export type PathOf = (keys: readonly string[]) => string;

export interface PlaceSettings {
  /** False when `groups` is set and names neither the chat nor `*`. */
  readonly listed: boolean;
  /** False when the group or the topic is switched off; `off` says which of the two. */
  readonly enabled: boolean;
  readonly off?: "group" | "topic";
  /** True when nothing says otherwise; direct chats need no mention. */
  readonly requireMention: boolean;
  readonly groupPolicy: GroupPolicy;
  readonly allowFrom: Senders;
  /** Absent: all skills; empty: none. */
  readonly skills?: readonly string[];
  /** The group's instructions, then the topic's. */
  readonly systemPrompt?: readonly string[];
  /** Where each setting was decided, or where it would be set when nothing decides it. */
  paths(): Readonly<Record<"listed" | "enabled" | "requireMention" | "groupPolicy" | "allowFrom" | "skills" | "systemPrompt", string>>;
}

/** One entry of `groups`, or of its topics, that speaks about the place. */
interface Layer {
  readonly keys: readonly string[];
  readonly own: PlaceAccess;
}

interface Found<T> {
  readonly value: T;
  /** The entry that says it. */
  readonly keys: readonly string[];
}

/**
 * A group takes the fields of `*` where its own are missing, a topic its group's. `path`: that of the account, or how to find each
 * option's.
 */
export function placeSettings(access: AccountAccess, path: string | PathOf, chat: InboundChat): PlaceSettings {
  const { topics, groups } = layersOf(access, chat);
  const layers = [...topics, ...groups];
  const narrowest = layers[0]?.keys ?? ["groups", "*"];
  const say = <K extends keyof PlaceAccess>(field: K, among: readonly Layer[] = layers): Found<NonNullable<PlaceAccess[K]>> | undefined => {
    const layer = among.find(({ own }) => own[field] !== undefined);
    return layer && { value: layer.own[field] as NonNullable<PlaceAccess[K]>, keys: layer.keys };
  };
  const switchedOff = (among: readonly Layer[]) => {
    const said = say("enabled", among);
    return said?.value === false ? said : undefined;
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
    ...(off === undefined ? {} : { off }),
    requireMention: mention?.value ?? chat.kind !== "direct",
    groupPolicy: policy?.value ?? access.groupPolicy ?? "allowlist",
    allowFrom: senders?.value ?? access.groupAllowFrom ?? access.allowFrom ?? [],
    ...(skills === undefined ? {} : { skills: skills.value }),
    ...(prompts.length === 0 ? {} : { systemPrompt: prompts.map(({ value }) => value) }),
    // Most who ask for the settings never ask where they stand.
    paths() {
      const pathOf = typeof path === "string" ? pathsBelow(path) : path;
      const at = (keys: readonly string[] | undefined, field: keyof PlaceAccess) => pathOf([...(keys ?? narrowest), field]);
      return {
        listed: pathOf(["groups"]),
        enabled: at((topicOff ?? groupOff)?.keys, "enabled"),
        requireMention: at(mention?.keys, "requireMention"),
        groupPolicy: policy === undefined ? pathOf(["groupPolicy"]) : at(policy.keys, "groupPolicy"),
        allowFrom: senders === undefined ? accountSendersPath(access, pathOf) : at(senders.keys, "allowFrom"),
        skills: at(skills?.keys, "skills"),
        systemPrompt: at(prompts.at(-1)?.keys, "systemPrompt"),
      };
    },
  };
}

/** The groups and topics, as keys below the account, that list senders of their own while their policy is `open`. */
export function openPlaces(access: AccountAccess): readonly (readonly string[])[] {
  return Object.entries(access.groups ?? {}).flatMap(([id, group]) => {
    const topics = Object.entries(group.topics ?? {}).map(([thread, topic]) => ({
      thread,
      own: topic,
      keys: ["groups", id, "topics", thread],
    }));
    const places: readonly { readonly thread?: string; readonly own: PlaceAccess; readonly keys: readonly string[] }[] = [
      { own: group, keys: ["groups", id] },
      ...topics,
    ];
    return places
      .filter(({ own, thread }) => {
        const chat = { id, kind: "group", ...(thread === undefined ? {} : { thread }) } as const;
        return own.allowFrom !== undefined && placeSettings(access, "", chat).groupPolicy === "open";
      })
      .map(({ keys }) => keys);
  });
}

/** Every option below one path, as they are when nothing is inherited. */
export function pathsBelow(path: string): PathOf {
  const base = parsePath(path) ?? [path];
  return (keys) => renderPath([...base, ...keys]);
}

/** Narrowest first: the topic of the group, that of `*`, the group, `*`. */
function layersOf({ groups: all }: AccountAccess, { id, kind, thread }: InboundChat): Record<"topics" | "groups", readonly Layer[]> {
  if (kind === "direct") return { topics: [], groups: [] };
  const groups = [id, "*"].flatMap((key) => {
    const own = ownOf(all, key);
    return own === undefined ? [] : [{ keys: ["groups", key], own }];
  });
  const topics = groups.flatMap(({ keys, own }) => {
    const topic = thread === undefined ? undefined : ownOf(own.topics, thread);
    return thread === undefined || topic === undefined ? [] : [{ keys: [...keys, "topics", thread], own: topic }];
  });
  return { topics, groups };
}

/** Own properties only: a chat named `constructor` is not a group. */
function ownOf<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** `groupAllowFrom`, else `allowFrom`. Where neither names anybody, `groupAllowFrom` is what to fill. */
function accountSendersPath({ allowFrom = [], groupAllowFrom }: AccountAccess, pathOf: PathOf): string {
  return pathOf([groupAllowFrom === undefined && allowFrom.length > 0 ? "allowFrom" : "groupAllowFrom"]);
}
