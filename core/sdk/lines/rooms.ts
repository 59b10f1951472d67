/** The rooms that a bot stays in on one connection. */
import { asSentence } from "../../contract/index.ts";
import { pause } from "../waits.ts";

export interface Rooms {
  /** Asks for every room that the bot is not in. */
  joinMissing(): void;
  isIn(room: string): boolean;
  /** The bot is in this room now. Ignores a room that is not one of these, as `outOfRoom` does. */
  inRoom(room: string): void;
  /** The bot was removed from the room, or is not admitted. */
  outOfRoom(room: string, detail: string): void;
  /** What the operator should know: the rooms that the bot is not in, why, and the code of the first reason. */
  missing(): { readonly detail: string; readonly code: string } | undefined;
  /** Ends every wait. */
  close(): void;
}

interface Room {
  readonly name: string;
  joinedAt: number | undefined;
  /** How often the bot was put out shortly after it had joined. */
  removals: number;
  /** The wait after a removal is not over. */
  isWaiting: boolean;
  why: { readonly detail: string; readonly code: "removed_from_room" | "room_refused" } | undefined;
}

/**
 * After the first removal, and the longest wait, in milliseconds. A room that the bot was in for the longest wait
 * begins at the first again.
 */
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;
/** Rooms that the operator reads the reason of; the others are counted. */
const maxReported = 3;

/**
 * A bot that is put out of a room joins again after a wait, which doubles; a room that does not let it in is asked by
 * `joinMissing` alone.
 */
export function createRooms(options: {
  readonly names: readonly string[];
  /** Asks the server to let the bot in. */
  join(name: string): void;
  /** Waits for the pace of the server; `undefined`: no wait. */
  turn(signal: AbortSignal): Promise<void> | undefined;
  fold(room: string): string;
  now(): number;
}): Rooms {
  const { names, join, turn, fold, now } = options;
  const rooms = new Map<string, Room>(
    names.map((name) => [fold(name), { name, joinedAt: undefined, removals: 0, isWaiting: false, why: undefined }]),
  );
  const closing = new AbortController();
  const asked = new Set<Room>();
  let asking = false;

  /** One after the other, so that a message waits for one room at most, and not for all. */
  async function ask(more: readonly Room[]): Promise<void> {
    for (const room of more) asked.add(room);
    if (asking) return;
    asking = true;
    for (const room of asked) {
      const waiting = turn(closing.signal);
      if (waiting !== undefined) await waiting;
      if (closing.signal.aborted) return;
      asked.delete(room);
      if (room.joinedAt === undefined) join(room.name);
    }
    asking = false;
  }

  async function rejoin(room: Room): Promise<void> {
    // A server that removes the bot again and again would begin a wait each time.
    if (room.isWaiting) return;
    room.isWaiting = true;
    await pause(Math.min(firstWaitMs * 2 ** Math.min(room.removals - 1, 10), longestWaitMs), closing.signal);
    room.isWaiting = false;
    if (!closing.signal.aborted) await ask([room]);
  }

  return {
    joinMissing: () => void ask([...rooms.values()].filter(({ joinedAt }) => joinedAt === undefined)),
    isIn: (name) => rooms.get(fold(name))?.joinedAt !== undefined,
    inRoom(name) {
      const room = rooms.get(fold(name));
      if (room === undefined) return;
      room.joinedAt = now();
      room.why = undefined;
    },
    outOfRoom(name, detail) {
      const room = rooms.get(fold(name));
      if (room === undefined) return;
      // A room that the bot was removed from, and that does not let it in again, refuses it.
      room.why = { detail, code: room.joinedAt === undefined ? "room_refused" : "removed_from_room" };
      if (room.joinedAt === undefined) return;
      room.removals = now() - room.joinedAt >= longestWaitMs ? 1 : room.removals + 1;
      room.joinedAt = undefined;
      void rejoin(room);
    },
    missing() {
      const outside = [...rooms.values()].flatMap(({ name, why }) => (why === undefined ? [] : [{ name, why }]));
      const [first] = outside;
      if (first === undefined) return undefined;
      const reported = outside
        .slice(0, maxReported)
        .map(({ name, why }) => asSentence(`The bot is not in ${name}: ${why.detail}`));
      const more = outside.length - reported.length;
      const rest = more === 0 ? [] : [`It is not in ${more} more ${more === 1 ? "room" : "rooms"}.`];
      return { detail: [...reported, ...rest].join(" "), code: first.why.code };
    },
    close: () => closing.abort(),
  };
}
