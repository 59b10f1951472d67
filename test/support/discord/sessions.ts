/** The gateway of the stand-in: it greets, lets bots in, counts heartbeats and events, and resumes. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { acceptSocket, type ServerSocket } from "./websocket.ts";
import { guildJson, userJson, type World } from "./world.ts";

interface Session {
  readonly id: string;
  readonly intents: number;
  sequence: number;
  readonly events: { readonly t: string; readonly s: number; readonly d: unknown }[];
  socket?: ServerSocket;
}

export interface Sessions {
  /** Takes an upgrade of HTTP. */
  upgrade(request: IncomingMessage, stream: Duplex): void;
  /** An event for the bot. `intent`: the bit that it needs. `d`: what sessions without the message content get. */
  dispatch(t: string, d: unknown, about: { readonly intent: number; readonly withoutContent?: unknown }): void;
  /** Ends every connection; the sessions stay. */
  cut(): void;
  /** Sends a payload as it is to every connection. */
  send(payload: unknown): void;
  sendText(text: string): void;
  /** Ends every connection with a code. */
  close(code: number): void;
  /** Forgets the sessions, so that none can be resumed. */
  forget(): void;
  /** How often a bot has signed in, and has resumed. */
  readonly counts: { identified: number; resumed: number; heartbeats: number };
  readonly isConnected: () => boolean;
  stop(): void;
}

export interface SessionOptions {
  readonly world: World;
  readonly token: string;
  readonly url: () => string;
  /** The intents that the bot's page allows beside the ordinary ones. */
  readonly privileged: () => number;
  readonly isSilent: () => boolean;
  readonly heartbeatMs: number;
  /** The servers that are not available when a bot signs in are announced later. */
  readonly onReady?: () => void;
}

const everyIntent = 0x7_ff_ff_ff;
const privileged = (1 << 1) | (1 << 8) | (1 << 15);
const messageContent = 1 << 15;
/** As the platform does: more payloads in a minute end the connection. */
const mostPayloads = 120;

export function createSessions(options: SessionOptions): Sessions {
  const { world, token } = options;
  const sessions = new Map<string, Session>();
  const sockets = new Set<ServerSocket>();
  const timers = new Set<NodeJS.Timeout>();
  const counts = { identified: 0, resumed: 0, heartbeats: 0 };
  let made = 0;

  function emit(session: Session, t: string, d: unknown): void {
    session.sequence += 1;
    const event = { t, s: session.sequence, d };
    session.events.push(event);
    session.socket?.send(JSON.stringify({ op: 0, ...event }));
  }

  function identify(socket: ServerSocket, d: Record<string, unknown>): Session | undefined {
    const intents = Number(d.intents);
    const { os, browser, device } = (d.properties ?? {}) as Record<string, unknown>;
    if (d.token !== token) return void socket.close(4004, "Authentication failed.");
    if (!Number.isInteger(d.intents) || (intents & ~everyIntent) !== 0)
      return void socket.close(4013, "Invalid intent(s).");
    if ((intents & privileged & ~options.privileged()) !== 0) return void socket.close(4014, "Disallowed intent(s).");
    if ([os, browser, device].some((each) => typeof each !== "string"))
      return void socket.close(4002, "Error while decoding payload.");
    counts.identified += 1;
    made += 1;
    const session: Session = {
      id: `session${made}x${Date.now().toString(36)}`,
      intents,
      sequence: 0,
      events: [],
      socket,
    };
    sessions.set(session.id, session);
    emit(session, "READY", {
      ...{ v: 10, user: { ...userJson(world.bot), verified: true, mfa_enabled: false, email: null, flags: 0 } },
      ...{
        guilds: [{ id: world.guild.id, unavailable: true }],
        session_id: session.id,
        resume_gateway_url: options.url(),
      },
      ...{
        session_type: "normal",
        private_channels: [],
        relationships: [],
        application: { id: world.bot.id, flags: options.privileged() === 0 ? 0 : 1 << 19 },
      },
    });
    emit(session, "GUILD_CREATE", guildJson(world.guild, world.bot));
    return session;
  }

  function resume(socket: ServerSocket, d: Record<string, unknown>): Session | undefined {
    if (d.token !== token) return void socket.close(4004, "Authentication failed.");
    const session = sessions.get(String(d.session_id));
    if (session === undefined) {
      socket.send(JSON.stringify({ op: 9, d: false }));
      return undefined;
    }
    if (!Number.isInteger(d.seq) || Number(d.seq) > session.sequence) return void socket.close(4007, "Invalid seq.");
    counts.resumed += 1;
    session.socket?.destroy();
    session.socket = socket;
    for (const event of session.events.filter(({ s }) => s > Number(d.seq)))
      socket.send(JSON.stringify({ op: 0, ...event }));
    emit(session, "RESUMED", { _trace: [] });
    return session;
  }

  const sendText = (text: string) => {
    for (const socket of sockets) socket.send(text);
  };

  return {
    counts,
    sendText,
    send: (payload) => sendText(JSON.stringify(payload)),
    isConnected: () => [...sessions.values()].some(({ socket }) => socket !== undefined),
    upgrade(request, stream) {
      const { searchParams } = new URL(request.url ?? "/", "http://platform");
      let session: Session | undefined;
      let isGreeted = false;
      let payloads = 0;
      let expected: NodeJS.Timeout | undefined;
      const expectBeat = () => {
        clearTimeout(expected);
        if (expected !== undefined) timers.delete(expected);
        // A client that is too late twice is gone.
        expected = setTimeout(() => socket.close(4000, "Unknown error."), options.heartbeatMs * 1.5 + 1_000);
        timers.add(expected);
      };
      const take = (text: string) => {
        payloads += 1;
        if (payloads > mostPayloads) return socket.close(4008, "Rate limited.");
        let payload: { readonly op?: unknown; readonly d?: unknown };
        try {
          payload = JSON.parse(text);
        } catch {
          return socket.close(4002, "Error while decoding payload.");
        }
        const d = (payload.d ?? {}) as Record<string, unknown>;
        if (payload.op === 1) {
          if (payload.d !== null && !Number.isInteger(payload.d))
            return socket.close(4002, "Error while decoding payload.");
          counts.heartbeats += 1;
          expectBeat();
          return socket.send(JSON.stringify({ op: 11 }));
        }
        if (payload.op === 2 || payload.op === 6) {
          if (session !== undefined) return socket.close(4005, "Already authenticated.");
          session = payload.op === 2 ? identify(socket, d) : resume(socket, d);
          return;
        }
        if (payload.op === 3 || payload.op === 4 || payload.op === 8) {
          if (session === undefined) socket.close(4003, "Not authenticated.");
          return;
        }
        socket.close(4001, "Unknown opcode.");
      };
      const socket = acceptSocket(request, stream, {
        isSilent: () => isGreeted && options.isSilent(),
        onText: take,
        onClose(code) {
          sockets.delete(socket);
          clearTimeout(expected);
          if (session?.socket === socket) delete session.socket;
          if ((code === 1000 || code === 1001) && session !== undefined) sessions.delete(session.id);
        },
      });
      sockets.add(socket);
      if (searchParams.get("v") !== "10" || searchParams.get("encoding") !== "json")
        return socket.close(4012, "Invalid API version.");
      socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: options.heartbeatMs } }));
      isGreeted = true;
      expectBeat();
    },
    dispatch(t, d, { intent, withoutContent = d }) {
      for (const session of sessions.values())
        if (intent === 0 || (session.intents & intent) !== 0)
          emit(session, t, (session.intents & messageContent) === 0 ? withoutContent : d);
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    close(code) {
      for (const socket of sockets) socket.close(code, "");
    },
    forget: () => sessions.clear(),
    stop() {
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}
