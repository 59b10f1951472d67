/** What a workspace of Slack has: people, channels, messages, files. */

export type Fields = Readonly<Record<string, unknown>>;

export interface User {
  readonly id: string;
  name: string;
  displayName: string;
  readonly email?: string;
  readonly isBot?: boolean;
}

export interface Message {
  readonly ts: string;
  readonly user: string;
  text: string;
  readonly bot_id?: string;
  readonly thread_ts?: string;
  readonly subtype?: string;
  readonly metadata?: Fields;
  blocks?: readonly unknown[];
  files?: readonly Fields[];
  edited?: { readonly user: string; readonly ts: string };
  readonly reactions: Map<string, Set<string>>;
}

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly members: Set<string>;
  readonly type: "channel" | "group" | "im" | "mpim";
  isArchived: boolean;
  readonly messages: Message[];
}

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly length: number;
  readonly ticket: string;
  mimetype: string;
  bytes?: Buffer;
  isShared: boolean;
  shares: Record<string, Record<string, { readonly ts: string }[]>>;
}

export const team = "T0TEAM001";
export const app = "A0APP0001";
export const bot = { user: "U0BOT0001", bot: "B0BOT0001", name: "gateway" } as const;
export const ada = "U0ADA0001";
export const eve = "U0EVE0001";
export const robot = { user: "U0ROBOT01", bot: "B0ROBOT01" } as const;
export const bread = "C0BREAD01";
export const elsewhere = "C0OTHER01";
export const adaDirect = "D0ADA0001";
export const eveDirect = "D0EVE0001";

export interface World {
  readonly users: Map<string, User>;
  readonly channels: Map<string, Channel>;
  readonly files: Map<string, StoredFile>;
  readonly ephemerals: {
    readonly channel: string;
    readonly user: string;
    readonly text: string;
    readonly ts: string;
  }[];
  /** Times are ids: each is later than all before. */
  nextTs(): string;
  nextId(letter: string): string;
}

export function createWorld(): World {
  const channel = (id: string, name: string, type: Channel["type"], members: readonly string[]): Channel => ({
    ...{ id, name, type, members: new Set(members), isArchived: false, messages: [] },
  });
  const users: readonly User[] = [
    { id: bot.user, name: bot.name, displayName: "Gateway", isBot: true },
    { id: ada, name: "ada", displayName: "Ada Lind", email: "ada@bakery.test" },
    { id: eve, name: "eve", displayName: "Eve" },
    { id: robot.user, name: "robot", displayName: "Robot", isBot: true },
  ];
  const channels = [
    channel(bread, "bread", "channel", [bot.user, ada, eve]),
    channel(elsewhere, "elsewhere", "channel", [ada]),
    channel(adaDirect, "", "im", [bot.user, ada]),
  ];
  let last = 0;
  let count = 0;
  return {
    users: new Map(users.map((user) => [user.id, user])),
    channels: new Map(channels.map((one) => [one.id, one])),
    files: new Map(),
    ephemerals: [],
    nextTs() {
      last = Math.max(Math.round(Date.now() * 1_000), last + 1);
      return `${Math.floor(last / 1e6)}.${String(last % 1e6).padStart(6, "0")}`;
    },
    nextId(letter) {
      count += 1;
      return `${letter}0${count.toString(36).toUpperCase().padStart(7, "0")}`;
    },
  };
}

/** How a person sees a message: Slack's markup and escapes are shown as what they mean. */
export function shownText({ text, blocks = [] }: Pick<Message, "text" | "blocks">): string {
  const sections = blocks.flatMap((block) => {
    const { type, text: inside } = block as { type?: string; text?: { text?: string } };
    return type === "section" && typeof inside?.text === "string" ? [inside.text] : [];
  });
  return (sections.length > 0 ? sections.join("\n") : text)
    .replace(/<([^<>|]*)\|([^<>]*)>/g, "$2")
    .replace(/<([^<>]*)>/g, "$1")
    .replaceAll("\u2060", "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
