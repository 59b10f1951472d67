/** Users, rooms and events of a homeserver, as https://spec.matrix.org/latest/client-server-api/ describes them. */
import { createHash } from "node:crypto";

export type Content = Readonly<Record<string, unknown>>;

export interface MatrixEvent {
  readonly event_id: string;
  readonly room_id: string;
  readonly type: string;
  readonly sender: string;
  readonly state_key?: string;
  readonly origin_server_ts: number;
  content: Content;
  redacts?: string;
  /** Position in the stream of the server. */
  readonly at: number;
  readonly device?: string;
  readonly txn?: string;
  readonly before?: Content;
  removedBy?: MatrixEvent;
}

export interface Room {
  readonly id: string;
  readonly version: string;
  readonly events: MatrixEvent[];
  readonly state: Map<string, MatrixEvent>;
}

export interface RoomOptions {
  readonly name?: string;
  readonly encrypted?: boolean;
  readonly version?: string;
  /** Those who are invited are invited to a direct chat. */
  readonly isDirect?: boolean;
  readonly invite?: readonly string[];
}

export interface User {
  readonly id: string;
  name?: string;
  readonly password: string;
  /** By access token, the device. */
  readonly tokens: Map<string, string>;
  readonly accountData: Map<string, { readonly content: Content; readonly at: number }>;
  /** Devices with keys for end-to-end encryption. */
  readonly keys: string[];
}

/** A refusal, as the specification names it. */
export class Refusal extends Error {
  readonly status: number;
  readonly errcode: string;
  readonly more: Content;

  constructor(status: number, errcode: string, words: string, more: Content = {}) {
    super(words);
    this.status = status;
    this.errcode = errcode;
    this.more = more;
  }
}

export function createWorld(host: string) {
  const users = new Map<string, User>();
  const rooms = new Map<string, Room>();
  const aliases = new Map<string, string>();
  const listeners = new Set<() => void>();
  let position = 0;

  const changed = () => {
    for (const listener of listeners) listener();
  };
  const membershipOf = (room: Room, user: string) => room.state.get(`m.room.member|${user}`)?.content.membership;

  const world = {
    host,
    users,
    rooms,
    aliases,
    position: () => position,
    /** The next position. */
    step(): number {
      position += 1;
      queueMicrotask(changed);
      return position;
    },
    /** Calls back at the next change; returns what stops that. */
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    addUser(localpart: string, { name, token }: { readonly name?: string; readonly token?: string } = {}): User {
      const id = `@${localpart}:${host}`;
      const tokens = new Map(token === undefined ? [] : [[token, `DEVICE${localpart.toUpperCase()}`]]);
      const user: User = {
        id,
        password: `password of ${localpart}`,
        tokens,
        accountData: new Map(),
        keys: [],
        ...(name !== undefined && { name }),
      };
      users.set(id, user);
      return user;
    },
    setAccountData(user: User, type: string, content: Content) {
      position += 1;
      user.accountData.set(type, { content, at: position });
      changed();
    },
    room(id: string): Room {
      const room = rooms.get(id);
      if (room === undefined) throw new Refusal(404, "M_NOT_FOUND", "Room not found");
      return room;
    },
    membershipOf,
    members: (room: Room, membership: string): readonly string[] =>
      [...room.state.values()]
        .filter(({ type, content }) => type === "m.room.member" && content.membership === membership)
        .map(({ state_key: key }) => key ?? ""),
    /** Throws unless the user is in the room. */
    entered(room: Room, user: string): void {
      if (membershipOf(room, user) !== "join")
        throw new Refusal(403, "M_FORBIDDEN", `User ${user} not in room ${room.id}`);
    },
    append(room: Room, event: Pick<MatrixEvent, "type" | "sender" | "content"> & Partial<MatrixEvent>): MatrixEvent {
      position += 1;
      const digest = createHash("sha256").update(`${room.id} ${position}`).digest("base64url");
      const key = `${event.type}|${event.state_key}`;
      const before = event.state_key === undefined ? undefined : room.state.get(key)?.content;
      const added: MatrixEvent = {
        origin_server_ts: Date.now(),
        ...event,
        ...{ event_id: `$${digest}`, room_id: room.id, at: position },
        ...(before !== undefined && { before }),
      };
      room.events.push(added);
      if (event.state_key !== undefined) room.state.set(key, added);
      changed();
      return added;
    },
    createRoom(
      creator: string,
      { name, encrypted = false, version = "10", isDirect = false, invite = [] }: RoomOptions = {},
    ): Room {
      const id = `!${createHash("sha256").update(`room ${rooms.size}`).digest("base64url").slice(0, 18)}:${host}`;
      const room: Room = { id, version, events: [], state: new Map() };
      rooms.set(id, room);
      const add = (type: string, content: Content, stateKey = "") =>
        world.append(room, { type, sender: creator, content, state_key: stateKey });
      add("m.room.create", { room_version: version, ...(version !== "11" && { creator }) });
      world.setMembership(room, creator, "join");
      add("m.room.power_levels", { users: { [creator]: 100 } });
      if (encrypted) add("m.room.encryption", { algorithm: "m.megolm.v1.aes-sha2" });
      if (name !== undefined) add("m.room.name", { name });
      for (const person of invite) world.setMembership(room, person, "invite", { by: creator, isDirect });
      return room;
    },
    setMembership(room: Room, user: string, membership: string, { by = user, isDirect = false } = {}): MatrixEvent {
      const name = users.get(user)?.name;
      const content = {
        membership,
        ...(name !== undefined && { displayname: name }),
        ...(isDirect && { is_direct: true }),
      };
      return world.append(room, { type: "m.room.member", sender: by, state_key: user, content });
    },
    redact(room: Room, sender: string, redacts: string, reason?: unknown): MatrixEvent {
      const target = room.events.find(({ event_id: id }) => id === redacts);
      if (target === undefined) throw new Refusal(404, "M_NOT_FOUND", "Could not find event");
      const levels = room.state.get("m.room.power_levels|")?.content.users as Content | undefined;
      const isModerator = levels?.[sender] === 100;
      if (target.sender !== sender && !isModerator)
        throw new Refusal(403, "M_FORBIDDEN", "You don't have permission to redact events");
      const content = { ...(room.version === "11" && { redacts }), ...(reason !== undefined && { reason }) };
      const event = world.append(room, {
        type: "m.room.redaction",
        sender,
        content,
        ...(room.version !== "11" && { redacts }),
      });
      target.content = {};
      target.removedBy = event;
      return event;
    },
  };
  return world;
}

export type World = ReturnType<typeof createWorld>;

/** An event as clients get it. */
export function clientEvent(
  { at: _, device, txn, before, removedBy, ...event }: MatrixEvent,
  forDevice: string,
): Content {
  const unsigned = {
    age: Math.max(0, Date.now() - event.origin_server_ts),
    ...(txn !== undefined && device === forDevice && { transaction_id: txn }),
    ...(before !== undefined && { prev_content: before }),
    ...(removedBy !== undefined && { redacted_because: clientEvent(removedBy, forDevice) }),
  };
  return { ...event, unsigned };
}
