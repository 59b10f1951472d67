/** Invitations: the bot follows those that the access rules admit. The others wait, in case the rules change. */
import { type ChannelAccount, ChannelError } from "service-gateway/sdk/channel";
import { type Homeserver, list, path, record, string } from "./homeserver.ts";
import type { Raw } from "./message.ts";
import type { Options } from "./options.ts";
import type { Rooms } from "./rooms.ts";

/** A type alias, so that it is `Json`. */
type Invitation = { readonly by: string; readonly direct: boolean; readonly title?: string };

export interface Invitations {
  /** The bot is invited. Follows the invitation, or stores it with the reason why not. */
  consider(room: string, invite: unknown, bot: Raw["bot"], signal: AbortSignal): Promise<void>;
  /** Considers those that wait once more. */
  reconsider(bot: Raw["bot"], signal: AbortSignal): Promise<void>;
  /** A room could not be joined, and it is time to try again. */
  isDue(): boolean;
  /** The bot is in the room, or is no longer invited. */
  settle(room: string): Promise<void>;
  waiting(): Promise<readonly (Invitation & { readonly room: string })[]>;
}

const prefix = "invitation:";
/** Everyone may invite the bot to any number of rooms. */
const mostWaiting = 200;
const retryMs = 300_000;

export function createInvitations(account: ChannelAccount<Options>, server: Homeserver, rooms: Rooms): Invitations {
  const { store } = account;
  let dueAt = Number.POSITIVE_INFINITY;

  async function join(room: string, direct: boolean, signal: AbortSignal): Promise<void> {
    // Stored first: a sync after it must find that the messages behind the invitation are for the bot.
    await rooms.set(room, { invited: true, ...(direct && { direct: true }) });
    await server.call({ name: "join", method: "POST", body: {}, path: path`client/v3/join/${room}`, signal });
    await store.delete(prefix + room);
  }

  /** As if the person had written there, and named the bot. */
  function probe(room: string, { by, direct, title }: Invitation, bot: Raw["bot"]): Raw {
    const event = {
      type: "m.room.message",
      event_id: "$invitation",
      sender: by,
      content: { msgtype: "m.text", body: bot.id },
    };
    return { bot, room: { id: room, direct, ...(title !== undefined && { title }) }, event };
  }

  async function follow(room: string, invitation: Invitation, bot: Raw["bot"], signal: AbortSignal): Promise<boolean> {
    const verdict = await account.check(probe(room, invitation, bot));
    // A stranger gets the pairing code in the room.
    if (!verdict.allowed && verdict.code !== "pairing_required") return false;
    try {
      await join(room, invitation.direct, signal);
    } catch (error) {
      if (signal.aborted || (error instanceof ChannelError && error.reason === "unauthorized")) throw error;
      // The server of the room may be away.
      const waitMs = (error instanceof ChannelError ? error.retryAfterMs : undefined) ?? retryMs;
      dueAt = Math.min(dueAt, account.now() + waitMs);
      account.log.warn(
        { room, reason: error instanceof ChannelError ? error.message : "failed" },
        "a room cannot be joined",
      );
    }
    return true;
  }

  async function waiting() {
    const rows = await store.list({ prefix, limit: mostWaiting });
    return rows.map(({ key, value }) => ({ ...(value as Invitation), room: key.slice(prefix.length) }));
  }

  return {
    waiting,
    isDue: () => account.now() >= dueAt,
    settle: async (room) => void (await store.delete(prefix + room)),
    async consider(room, invite, bot, signal) {
      const events = list(record(record(invite).invite_state).events).map(record);
      const own = events.find(({ type, state_key: key }) => type === "m.room.member" && key === bot.id);
      const by = string(own?.sender);
      if (by === undefined) return;
      const title = string(record(events.find(({ type }) => type === "m.room.name")?.content).name)?.slice(0, 300);
      const direct = record(own?.content).is_direct === true;
      const invitation: Invitation = { by, direct, ...(title !== undefined && { title }) };
      if ((await waiting()).length < mostWaiting) await store.set(prefix + room, invitation);
      if (await follow(room, invitation, bot, signal)) return;
      const event = {
        type: "m.room.member",
        event_id: `$invitation:${room}`,
        sender: by,
        content: { membership: "invite" },
      };
      await account.receive({ ...probe(room, invitation, bot), event }, { id: `invitation:${room}:${account.now()}` });
    },
    async reconsider(bot, signal) {
      dueAt = Number.POSITIVE_INFINITY;
      for (const { room, ...invitation } of await waiting()) await follow(room, invitation, bot, signal);
    },
  };
}
