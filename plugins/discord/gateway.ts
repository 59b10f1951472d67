/**
 * One connection to the gateway: it signs in or resumes, sends heartbeats, and passes events on. See
 * https://discord.com/developers/docs/events/gateway.
 */
import { randomInt } from "node:crypto";
import { ChannelError, onEvent } from "service-gateway/sdk/channel";
import { type Fields, number, record, text } from "./fields.ts";

/** What a session is resumed with. */
export interface Session {
  readonly id: string;
  readonly url: string;
  /** The sequence number of the last event that is stored. */
  readonly sequence: number;
}

/** An event as the gateway sends it. */
export interface Dispatch {
  readonly type: string;
  readonly data: Fields;
  readonly sequence: number;
}

export interface GatewayOptions {
  readonly url: string;
  readonly token: string;
  readonly intents: number;
  /** Absent: a new session begins. */
  readonly session: Session | undefined;
  /** Called for each event, in order. */
  onDispatch(dispatch: Dispatch): void;
  /** The platform does not continue the session. */
  onInvalidSession(): void;
  /** Reports a heartbeat; the returned function is called when it is confirmed. */
  calling(): () => void;
}

export interface GatewayConnection {
  /** Resolves when events arrive. */
  readonly ready: Promise<void>;
  /** Rejects with the reason when the connection ends. */
  readonly lost: Promise<never>;
  /** Ends the connection and leaves the session, which can be resumed for some minutes. */
  end(reason: Error): void;
  /** Resolves when the socket is closed. */
  readonly closed: Promise<void>;
}

export const intents = {
  /** GUILDS, GUILD_MESSAGES, GUILD_MESSAGE_REACTIONS, DIRECT_MESSAGES, DIRECT_MESSAGE_REACTIONS. */
  basic: (1 << 0) | (1 << 9) | (1 << 10) | (1 << 12) | (1 << 13),
  messageContent: 1 << 15,
} as const;

const properties = { os: process.platform, browser: "service-gateway", device: "service-gateway" };

/** With 1000 and 1001 the platform would end the session. */
const leaveCode = 4_900;

const loss = (reason: string, detail: string) => new ChannelError(reason, { retryable: true, detail });

const final = (reason: string, detail?: string) => new ChannelError(reason, detail === undefined ? {} : { detail });

/** What the platform means by closing the connection; any other code is a loss that a resumption mends. */
function closeError(code: number, words: string): ChannelError {
  const detail = `Discord closed the connection with ${code}${words === "" ? "" : ` (${words.slice(0, 100)})`}`;
  switch (code) {
    case 4004:
      return final("unauthorized", `${detail}: it rejects the token`);
    case 4010:
    case 4011:
      return final("sharding_required", `${detail}: the bot is in too many servers for one connection`);
    case 4012:
      return final("bad_request", `${detail}: it does not know this version of the gateway`);
    case 4013:
    case 4014:
      return final("intents_refused", `${detail}: it refuses an intent`);
    default:
      return new ChannelError("network", { retryable: true, detail });
  }
}

/** After these, the session cannot be resumed. */
const endsSession: ReadonlySet<number> = new Set([1000, 1001, 4003, 4007, 4009]);

export function connectGateway(options: GatewayOptions): GatewayConnection {
  const { token } = options;
  let { session } = options;
  const url = new URL(options.url);
  url.search = "?v=10&encoding=json";
  const ready = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<never>();
  const closed = Promise.withResolvers<void>();
  // Either may come first, and nothing waits for the other then.
  for (const { promise } of [ready, lost]) promise.catch(() => {});
  let sequence = session?.sequence ?? null;
  let waiting: NodeJS.Timeout | undefined;
  let isOver = false;
  const socket = new WebSocket(url);

  function end(reason: Error): void {
    if (isOver) return;
    isOver = true;
    heartbeats.stop();
    clearTimeout(waiting);
    ready.reject(reason);
    lost.reject(reason);
    socket.close(leaveCode);
  }

  const send = (op: number, d: unknown) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ op, d }));
  };

  const heartbeats = createHeartbeats({
    send: () => send(1, sequence),
    calling: options.calling,
    onSilence: () => end(loss("platform_silent", "Discord did not confirm a heartbeat")),
  });

  function signIn(): void {
    if (session === undefined) send(2, { token, intents: options.intents, properties });
    else send(6, { token, session_id: session.id, seq: session.sequence });
  }

  /** A new session begins on the same connection, after the wait that the platform asks for. */
  function invalidSession(isResumable: boolean): void {
    if (!isResumable) options.onInvalidSession();
    if (isResumable || session === undefined) {
      end(loss("bad_session", "Discord does not continue the session"));
      return;
    }
    session = undefined;
    sequence = null;
    waiting = setTimeout(signIn, randomInt(1_000, 5_000));
  }

  function dispatch(payload: Fields): void {
    const event = readDispatch(payload);
    if (event === undefined) return;
    sequence = event.sequence;
    options.onDispatch(event);
    if (event.type === "READY" || event.type === "RESUMED") ready.resolve();
  }

  function read(words: unknown): void {
    const payload = record(parse(words));
    if (payload === undefined || isOver) return;
    switch (payload.op) {
      case 0:
        dispatch(payload);
        break;
      case 1:
        heartbeats.beat();
        break;
      case 7:
        end(loss("network", "Discord asks to connect again"));
        break;
      case 9:
        invalidSession(payload.d === true);
        break;
      case 10:
        heartbeats.every(Math.max(1_000, number(record(payload.d)?.heartbeat_interval) ?? 41_250));
        signIn();
        break;
      case 11:
        heartbeats.confirmed();
    }
  }

  const source = "the gateway of Discord";
  const emitter = { on: socket.addEventListener.bind(socket) };
  onEvent<[MessageEvent]>(emitter, "message", { source, handle: ({ data }) => read(data) });
  onEvent(emitter, "error", { source, handle: () => {} });
  onEvent<[CloseEvent]>(emitter, "close", {
    source,
    handle({ code, reason }) {
      if (!isOver && endsSession.has(code)) options.onInvalidSession();
      end(closeError(code, reason));
      closed.resolve();
    },
  });
  return { ready: ready.promise, lost: lost.promise, closed: closed.promise, end };
}

function readDispatch({ t, s, d }: Fields): Dispatch | undefined {
  const [type, sequence, data] = [text(t), number(s), record(d)];
  return type === undefined || sequence === undefined || data === undefined ? undefined : { type, sequence, data };
}

/** A connection whose heartbeat is not confirmed until the next one is lost, although it may stay open. */
function createHeartbeats({
  send,
  calling,
  onSilence,
}: {
  readonly send: () => void;
  readonly calling: () => () => void;
  readonly onSilence: () => void;
}) {
  let timer: NodeJS.Timeout | undefined;
  /** Called when the last heartbeat is confirmed; absent if it is. */
  let unconfirmed: (() => void) | undefined;
  const beat = () => {
    unconfirmed = calling();
    send();
  };
  return {
    beat,
    confirmed() {
      unconfirmed?.();
      unconfirmed = undefined;
    },
    every(ms: number) {
      const next = (after: number) => {
        timer = setTimeout(() => {
          if (unconfirmed !== undefined) return onSilence();
          beat();
          next(ms);
        }, after);
      };
      // So that not all clients of a server that has restarted send theirs at once.
      next(randomInt(ms));
    },
    stop: () => clearTimeout(timer),
  };
}

function parse(words: unknown): unknown {
  try {
    return typeof words === "string" ? JSON.parse(words) : undefined;
  } catch {
    return undefined;
  }
}
