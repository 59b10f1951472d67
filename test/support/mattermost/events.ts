/** The WebSocket of a Mattermost server: sign-in, numbered events, and connections that go on after a loss. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { acceptWebSocket, type ServerSocket } from "../websocket-server.ts";
import type { User, World } from "./world.ts";

/** A connection outlives its socket: what it would have sent waits for the next one. */
interface Connection {
  readonly id: string;
  user: User | undefined;
  socket: ServerSocket | undefined;
  sequence: number;
  /** The last events, which the server sends again. */
  readonly sent: { readonly seq: number; readonly text: string }[];
}

const remembered = 128;

export function createEvents(
  world: World,
  { onTyping, isSilent }: { onTyping(user: User, channel: string): void; isSilent(): boolean },
) {
  const connections = new Map<string, Connection>();
  /** Events that are left out, as by a network that loses them. */
  let toLose = 0;

  function emit(connection: Connection, event: string, data: object, broadcast: object): void {
    const seq = connection.sequence;
    connection.sequence += 1;
    const text = JSON.stringify({ event, data, broadcast, seq });
    connection.sent.push({ seq, text });
    if (connection.sent.length > remembered) connection.sent.shift();
    if (toLose > 0) toLose -= 1;
    else if (!isSilent()) connection.socket?.send(text);
  }

  const hello = (connection: Connection) =>
    emit(connection, "hello", { connection_id: connection.id, server_version: world.config.Version }, {});

  /** To everyone in the channel, or to one person. */
  function publish(event: string, data: object, to: { readonly channel?: string; readonly user?: string }): void {
    for (const connection of connections.values()) {
      if (connection.user === undefined) continue;
      const isThere = to.channel === undefined || world.channels.get(to.channel)?.members.has(connection.user.id);
      if (isThere !== true || (to.user !== undefined && to.user !== connection.user.id)) continue;
      emit(connection, event, data, { channel_id: to.channel ?? "", user_id: to.user ?? "", omit_users: null });
    }
  }

  function userOf(token: unknown): User | undefined {
    return [...world.users.values()].find((user) => user.token === token);
  }

  function request(connection: Connection, text: string): void {
    if (isSilent()) return;
    const {
      action,
      seq,
      data = {},
    } = JSON.parse(text) as {
      readonly action?: string;
      readonly seq?: number;
      readonly data?: Readonly<Record<string, unknown>>;
    };
    const reply = (body: object) => connection.socket?.send(JSON.stringify({ ...body, seq_reply: seq }));
    const refuse = (id: string, status: number) =>
      reply({ status: "FAIL", error: { id, message: id, detailed_error: "", status_code: status } });
    if (action === undefined || action === "") return void refuse("api.web_socket_router.no_action.app_error", 400);
    if (!Number.isInteger(seq) || (seq ?? 0) <= 0) return void refuse("api.web_socket_router.bad_seq.app_error", 400);
    if (action === "authentication_challenge") {
      // A connection that the header has signed in says nothing to it.
      if (connection.user !== undefined) return;
      connection.user = userOf(data.token);
      if (connection.user === undefined) return void connection.socket?.close();
      hello(connection);
      reply({ status: "OK" });
      return;
    }
    if (connection.user === undefined) return void refuse("api.web_socket_router.not_authenticated.app_error", 401);
    if (action === "ping")
      reply({ status: "OK", data: { text: "pong", version: "11.9.0", server_time: world.time() } });
    else if (action === "user_typing") {
      if (!world.channels.get(String(data.channel_id))?.members.has(connection.user.id))
        return void refuse("api.websocket_handler.invalid_param.app_error", 400);
      onTyping(connection.user, String(data.channel_id));
      reply({ status: "OK" });
    } else refuse("api.web_socket_router.bad_action.app_error", 500);
  }

  function upgrade(incoming: IncomingMessage, stream: Duplex): void {
    const { searchParams } = new URL(incoming.url ?? "/", "http://server");
    const user = userOf(/^bearer (.+)$/i.exec(incoming.headers.authorization ?? "")?.[1]);
    const asked = searchParams.get("connection_id") ?? "";
    const known = user === undefined ? undefined : connections.get(asked);
    const from = Number(searchParams.get("sequence_number") ?? Number.NaN);
    const isKnown = known?.user === user && known !== undefined && Number.isInteger(from) && from >= 0;
    const connection: Connection = isKnown
      ? known
      : { id: world.newId(), user, socket: undefined, sequence: 0, sent: [] };
    connections.set(connection.id, connection);
    connection.socket?.destroy();
    const socket = acceptWebSocket(incoming, stream, {
      text: (text) => request(connection, text),
      closed() {
        if (connection.socket === socket) connection.socket = undefined;
      },
    });
    connection.socket = socket;
    if (!isKnown) {
      if (user !== undefined) hello(connection);
      return;
    }
    const isThere = from === connection.sequence || connection.sent.some(({ seq }) => seq === from);
    if (isThere) for (const { seq, text } of connection.sent) if (seq >= from) socket.send(text);
    if (isThere) return;
    // The lost events are gone: the connection gets a new id, and begins again.
    connections.delete(connection.id);
    const fresh: Connection = { ...connection, id: world.newId(), sequence: 0, sent: [] };
    connections.set(fresh.id, fresh);
    hello(fresh);
  }

  return {
    publish,
    upgrade,
    /** Sends a text that is no event. */
    raw(text: string) {
      for (const { socket } of connections.values()) socket?.send(text);
    },
    lose: (count: number) => {
      toLose = count;
    },
    /** How many sockets are open. */
    open: () => [...connections.values()].filter(({ socket }) => socket !== undefined).length,
    /** Ends every socket; `forget`: as after a restart of the server. */
    drop({ forget = false } = {}) {
      for (const { socket } of connections.values()) socket?.destroy();
      if (forget) connections.clear();
    },
  };
}

export type Events = ReturnType<typeof createEvents>;
