/** The platform's complete state in memory: people, their chats and the messages. */
import type { BotCommand, Chat, Message, Reaction, User } from "./wire.ts";

export interface Person extends User {
  readonly is_bot: false;
}

export type MemberStatus = "creator" | "administrator" | "member" | "restricted" | "left" | "kicked";

export interface Topic {
  readonly id: number;
  name: string;
  closed: boolean;
}

/** A message's reactions by the id of the person or bot. */
export type Reactions = Map<number, readonly Reaction[]>;

export interface Room {
  /** Unique across bots. Each bot has its own direct chat with a person, although the chats have the same id. */
  readonly key: string;
  readonly chat: Chat;
  /** The bot's id, for a direct chat. */
  readonly bot?: number;
  readonly members: Map<number, MemberStatus>;
  readonly messages: Map<number, Message>;
  readonly reactions: Map<number, Reactions>;
  /** Messages whose pairing code was approved on the page. */
  readonly approved: Set<number>;
  readonly topics: Map<number, Topic>;
  /** False until the person has written, because the bot may not write first. */
  started: boolean;
  /** True while the person has blocked the bot. */
  blocked: boolean;
  /** The new id, if the group became a supergroup. */
  migratedTo?: number;
  nextMessageId(): number;
}

export interface Bot {
  readonly token: string;
  readonly user: User;
  /** If true, only mentions, replies and commands in groups reach the bot, unless it is an administrator there. */
  readonly privacy: boolean;
  /** Menus by scope and language. */
  readonly menus: Map<string, readonly BotCommand[]>;
  readonly nextMessageId: () => number;
}

export interface PersonSeed {
  readonly id: number;
  readonly first_name: string;
  readonly last_name?: string;
  readonly username?: string;
  readonly language_code?: string;
}

export interface GroupSeed {
  readonly id: number;
  readonly type: "group" | "supergroup" | "channel";
  readonly title: string;
  /** The group is a forum if topics are listed. */
  readonly topics?: readonly string[];
  /** Ids of the members; absent: all people. Bots are members of every group. */
  readonly members?: readonly number[];
}

export interface WorldSeed {
  readonly people: readonly PersonSeed[];
  readonly groups: readonly GroupSeed[];
}

/** Three people, a group and a forum. */
export const defaultSeed: WorldSeed = {
  people: [
    { id: 1001, first_name: "Ada", last_name: "Lind", username: "ada_lind", language_code: "en" },
    { id: 1002, first_name: "Bela", last_name: "Varga", username: "bela_varga", language_code: "en" },
    { id: 1003, first_name: "Chen", last_name: "Wei", username: "chen_wei", language_code: "en" },
  ],
  groups: [
    { id: -1_001_000_000_001, type: "supergroup", title: "Kitchen table" },
    { id: -1_001_000_000_002, type: "supergroup", title: "Workshop", topics: ["Ideas", "Repairs"] },
  ],
};

/** Maximum number of messages in a chat. Older ones count as deleted. */
const maxMessages = 2000;

export interface World {
  readonly people: ReadonlyMap<number, Person>;
  readonly rooms: ReadonlyMap<string, Room>;
  readonly bots: readonly Bot[];
  addPerson(seed: PersonSeed): Person;
  addGroup(seed: GroupSeed): Room;
  /** The direct chat of a person with a bot, created if necessary. */
  direct(bot: Bot, personId: number): Room;
  group(chatId: number): Room | undefined;
  groupByUsername(username: string): Room | undefined;
  userOf(id: number): User | undefined;
  keep(room: Room, message: Message): void;
}

function counter(first: number): () => number {
  let next = first;
  return () => next++;
}

export function createBot(token: string, user: User, privacy: boolean): Bot {
  return { token, user, privacy, menus: new Map(), nextMessageId: counter(1) };
}

export function createWorld(bots: readonly Bot[], seed: WorldSeed, seconds: () => number): World {
  const people = new Map<number, Person>();
  const rooms = new Map<string, Room>();

  const world: World = {
    people,
    rooms,
    bots,
    addPerson(entry) {
      const person: Person = { ...entry, is_bot: false };
      people.set(person.id, person);
      return person;
    },
    addGroup(entry) {
      const room = createGroup(entry);
      for (const id of entry.members ?? people.keys())
        room.members.set(id, room.members.size === 0 ? "creator" : "member");
      // A channel has readers and administrators; a bot can only be an administrator.
      for (const bot of bots) room.members.set(bot.user.id, entry.type === "channel" ? "administrator" : "member");
      rooms.set(room.key, room);
      addTopics(room, entry.topics ?? []);
      return room;
    },
    direct(bot, personId) {
      const key = `${bot.user.id}:${personId}`;
      let room = rooms.get(key);
      if (room === undefined) {
        const person = people.get(personId);
        if (person === undefined)
          throw new Error(`there is no person ${personId} in the playground; add one with world.addPerson`);
        room = createDirect(key, bot, person);
        rooms.set(key, room);
      }
      return room;
    },
    group: (chatId) => rooms.get(String(chatId)),
    groupByUsername: (username) =>
      [...rooms.values()].find(
        (room) => room.bot === undefined && room.chat.username?.toLowerCase() === username.toLowerCase(),
      ),
    userOf: (id) => people.get(id) ?? bots.find((bot) => bot.user.id === id)?.user,
    keep(room, message) {
      room.messages.set(message.message_id, message);
      if (room.messages.size <= maxMessages) return;
      const oldest = room.messages.keys().next().value as number;
      room.messages.delete(oldest);
      room.reactions.delete(oldest);
    },
  };

  function addTopics(room: Room, names: readonly string[]): void {
    const owner = [...room.members].find(([, status]) => status === "creator")?.[0];
    const from = owner === undefined ? undefined : people.get(owner);
    if (names.length === 0 || from === undefined) return;
    for (const name of names) createTopic(world, room, from, name, seconds());
  }

  for (const person of seed.people) world.addPerson(person);
  for (const group of seed.groups) world.addGroup(group);
  return world;
}

/** Creates a topic. Its id is that of the service message that created it. */
export function createTopic(world: World, room: Room, from: User, name: string, date: number): Message {
  const id = room.nextMessageId();
  room.topics.set(id, { id, name, closed: false });
  const message: Message = {
    message_id: id,
    date,
    chat: room.chat,
    from,
    message_thread_id: id,
    is_topic_message: true,
    forum_topic_created: { name, icon_color: 7_322_096 },
  };
  world.keep(room, message);
  return message;
}

function createDirect(key: string, bot: Bot, person: Person): Room {
  const { id, first_name, last_name, username } = person;
  return {
    key,
    chat: { id, type: "private", first_name, ...(last_name ? { last_name } : {}), ...(username ? { username } : {}) },
    bot: bot.user.id,
    members: new Map([
      [person.id, "member"],
      [bot.user.id, "member"],
    ]),
    messages: new Map(),
    reactions: new Map(),
    approved: new Set(),
    topics: new Map(),
    started: false,
    blocked: false,
    nextMessageId: bot.nextMessageId,
  };
}

function createGroup(seed: GroupSeed): Room {
  const forum = seed.topics !== undefined;
  return {
    key: String(seed.id),
    chat: { id: seed.id, type: seed.type, title: seed.title, ...(forum ? { is_forum: true as const } : {}) },
    members: new Map(),
    messages: new Map(),
    reactions: new Map(),
    approved: new Set(),
    topics: new Map(forum ? [[1, { id: 1, name: "General", closed: false }]] : []),
    started: true,
    blocked: false,
    // Id 1 is the group's own service message (in a forum, that of the General topic).
    nextMessageId: counter(2),
  };
}
