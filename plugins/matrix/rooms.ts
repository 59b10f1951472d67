/** What is known of the rooms that the bot is in. It is stored, because a sync brings changes only. */
import { isDeepStrictEqual } from "node:util";
import type { ChannelAccount, Json } from "service-gateway/sdk/channel";
import { type Homeserver, list, path, record, string } from "./homeserver.ts";

/** A type alias, so that it is `Json`. */
export type Room = {
  readonly name?: string;
  readonly alias?: string;
  readonly encrypted?: true;
  /** How many are in it, and how many more are invited; absent: not known. */
  readonly joined?: number;
  readonly awaited?: number;
  /** The bot was invited to it for a direct chat, or opened it. */
  readonly direct?: true;
  /** The bot has followed an invitation to it, and has not seen its messages yet. */
  readonly invited?: true;
  /** The id of the last event that was received. */
  readonly last?: string;
  /** The room was answered that the bot cannot read it. */
  readonly answered?: true;
};

export interface Rooms {
  get(id: string): Promise<Room>;
  /** Stores what has changed. */
  set(id: string, change: Room): Promise<void>;
  remove(id: string): Promise<void>;
  /** Takes over the state and the numbers that a sync has of a room. */
  update(id: string, joined: unknown): Promise<void>;
  /** The rooms that the account data lists as direct chats, by person. */
  setDirect(content: unknown): Promise<void>;
  /** Whether the room is the direct chat of this person, the only other member. */
  isDirect(id: string, person: string, signal: AbortSignal): Promise<boolean>;
  /** The room in which a person wrote last, or that is listed for them; one is opened if there is none. */
  roomOf(person: string, signal: AbortSignal): Promise<string>;
  /** The person has written in this direct chat. */
  wrote(person: string, id: string): Promise<void>;
}

const roomKey = (id: string) => `room:${id}`;
const personKey = (id: string) => `person:${id}`;
const directKey = "direct";

export function createRooms({ store }: Pick<ChannelAccount, "store">, server: Homeserver): Rooms {
  const opening = new Map<string, Promise<string>>();

  // Read each time: on several nodes, another one may have written it.
  const get = async (id: string) => record(await store.get(roomKey(id))) as Room;

  async function set(id: string, change: Room): Promise<void> {
    const before = await get(id);
    const after = JSON.parse(JSON.stringify({ ...before, ...change })) as Room;
    if (!isDeepStrictEqual(before, after)) await store.set(roomKey(id), after);
  }

  function stateOf(event: unknown): Room {
    const { type, content, state_key: key } = record(event);
    const { name, alias, algorithm } = record(content);
    if (key !== "") return {};
    if (type === "m.room.name") return { name: string(name)?.slice(0, 300) };
    if (type === "m.room.canonical_alias") return { alias: string(alias)?.slice(0, 300) };
    // Encryption cannot be turned off again.
    return type === "m.room.encryption" && algorithm !== undefined ? { encrypted: true } : {};
  }

  async function membersOf(id: string, signal: AbortSignal): Promise<number> {
    const { joined, awaited = 0 } = await get(id);
    if (joined !== undefined) return joined + awaited;
    const name = "joined_members";
    const { joined: members } = await server.call({ name, path: path`client/v3/rooms/${id}/joined_members`, signal });
    const count = Object.keys(record(members)).length;
    await set(id, { joined: count });
    return count + awaited;
  }

  async function open(person: string, signal: AbortSignal): Promise<string> {
    const { room_id: id } = await server.call({
      ...{ name: "createRoom", method: "POST", path: "client/v3/createRoom", signal },
      body: { preset: "trusted_private_chat", is_direct: true, invite: [person] },
    });
    await set(String(id), { direct: true });
    await store.set(personKey(person), String(id));
    return String(id);
  }

  return {
    get,
    set,
    remove: async (id) => void (await store.delete(roomKey(id))),
    async update(id, found) {
      const { state, timeline, summary } = record(found);
      const { "m.joined_member_count": joined, "m.invited_member_count": awaited } = record(summary);
      const changes = list(record(timeline).events);
      // A server without summaries is asked again after each change of the members.
      const isUnknown = summary === undefined && changes.some((event) => record(event).type === "m.room.member");
      const counts: Room = {
        ...(isUnknown && { joined: undefined, awaited: undefined }),
        ...(typeof joined === "number" && { joined }),
        ...(typeof awaited === "number" && { awaited }),
      };
      const events = [...list(record(state).events), ...changes];
      await set(id, Object.assign(counts, ...events.map(stateOf)));
    },
    setDirect: (content) => store.set(directKey, record(content) as Json),
    async isDirect(id, person, signal) {
      const { name, alias, direct } = await get(id);
      const listed = list(record(await store.get(directKey))[person]).includes(id);
      // A group that a person has just created has a name.
      if (direct !== true && !listed && (name ?? alias) !== undefined) return false;
      return (await membersOf(id, signal)) <= 2;
    },
    async roomOf(person, signal) {
      const room = string(await store.get(personKey(person)));
      if (room !== undefined && Object.keys(await get(room)).length > 0) return room;
      for (const id of list(record(await store.get(directKey))[person]).toReversed())
        if (typeof id === "string" && (await get(id)).last !== undefined) return id;
      // Two messages at once must not open two rooms.
      const one = opening.get(person) ?? open(person, signal).finally(() => opening.delete(person));
      opening.set(person, one);
      return await one;
    },
    async wrote(person, id) {
      if ((await store.get(personKey(person))) !== id) await store.set(personKey(person), id);
    },
  };
}
