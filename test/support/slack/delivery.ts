/** How events reach the app: by its sockets, or posted to an address. Each is confirmed, or comes again. */
import { createHmac } from "node:crypto";
import type { ServerSocket } from "./web-socket-server.ts";
import { app, bot, type Fields, team, type World } from "./world.ts";

type Kind = "events_api" | "interactive" | "slash_commands";

interface Envelope {
  readonly id: string;
  readonly kind: Kind;
  readonly payload: Fields;
  attempt: number;
  /** The socket that has it. */
  at?: ServerSocket | undefined;
  timer?: NodeJS.Timeout | undefined;
}

export interface Delivery {
  origin: string;
  /** Where events are posted. Absent: Socket Mode. */
  postTo: string | undefined;
  /** Signs with another secret, or another time. */
  signs: { readonly secret?: string; readonly at?: () => number };
  /** The kinds of events that the app has subscribed to; absent: all. */
  subscribed?: ReadonlySet<string>;
  event(event: Fields): void;
  interactive(payload: Fields): void;
  command(form: Fields): void;
  connect(socket: ServerSocket, complain: (words: string) => void): void;
  /** Where an answer to this interaction is shown. */
  interaction(id: string): { readonly channel: string; readonly user: string } | undefined;
  /** An address for answers to an interaction. */
  responseUrl(at: { readonly channel: string; readonly user: string }): string;
  /** The last event once more, confirmed or not. */
  repeat(): void;
  /** Sends nothing more, not even pings. */
  mute(): void;
  /** Ends the sockets as a broken network does. */
  cut(): void;
  /** Asks the app to open another socket, as Slack does once in a while. */
  refresh(reason?: string): void;
  readonly sockets: ReadonlySet<ServerSocket>;
  /** How many presses were confirmed. */
  readonly confirmed: { readonly kind: Kind; readonly payload: Fields }[];
  close(): void;
}

/** Slack gives up after the third repetition. */
const mostAttempts = 4;

export function createDelivery({
  world,
  signingSecret,
  retryMs,
  pingMs,
}: {
  readonly world: World;
  readonly signingSecret: string;
  readonly retryMs: number;
  readonly pingMs: number;
}): Delivery {
  const sockets = new Set<ServerSocket>();
  const waiting = new Map<string, Envelope>();
  const interactions = new Map<string, { readonly channel: string; readonly user: string }>();
  const confirmed: Delivery["confirmed"] = [];
  let isClosed = false;
  let last: Envelope | undefined;
  const pings = setInterval(() => {
    for (const socket of sockets) socket.ping();
  }, pingMs);
  pings.unref();

  function done(envelope: Envelope): void {
    clearTimeout(envelope.timer);
    if (waiting.delete(envelope.id)) confirmed.push({ kind: envelope.kind, payload: envelope.payload });
  }

  /** What a person did while no socket was open is lost: the harshest reading of the documentation. */
  function give(envelope: Envelope): void {
    if (isClosed) return;
    clearTimeout(envelope.timer);
    waiting.set(envelope.id, envelope);
    envelope.attempt += 1;
    if (envelope.attempt > mostAttempts) return void waiting.delete(envelope.id);
    // A press or a command is not repeated: the person sees that it had no effect.
    if (envelope.kind === "events_api") envelope.timer = setTimeout(() => give(envelope), retryMs);
    if (delivery.postTo !== undefined) return void post(envelope, delivery.postTo).catch(() => {});
    const socket = [...sockets].at(-1);
    envelope.at = socket;
    if (socket === undefined && envelope.attempt === 1) {
      clearTimeout(envelope.timer);
      waiting.delete(envelope.id);
      return;
    }
    const retry = { retry_attempt: envelope.attempt - 1, retry_reason: envelope.attempt > 1 ? "timeout" : "" };
    const isEvent = envelope.kind === "events_api";
    socket?.send(
      JSON.stringify({
        ...{ envelope_id: envelope.id, type: envelope.kind, payload: envelope.payload },
        ...{ accepts_response_payload: !isEvent, ...(isEvent && retry) },
      }),
    );
  }

  async function post(envelope: Envelope, address: string): Promise<void> {
    const { kind, payload, attempt } = envelope;
    const form = kind === "slash_commands" ? payload : { payload: JSON.stringify(payload) };
    const body =
      kind === "events_api" ? JSON.stringify(payload) : new URLSearchParams(form as Record<string, string>).toString();
    const { secret = signingSecret, at = Date.now } = delivery.signs;
    const time = String(Math.floor(at() / 1_000));
    const response = await fetch(address, {
      method: "POST",
      body,
      headers: {
        "content-type": kind === "events_api" ? "application/json" : "application/x-www-form-urlencoded",
        "x-slack-request-timestamp": time,
        "x-slack-signature": `v0=${createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex")}`,
        ...(attempt > 1 && { "x-slack-retry-num": String(attempt - 1), "x-slack-retry-reason": "http_error" }),
      },
    });
    await response.arrayBuffer();
    if (response.ok) done(envelope);
  }

  const delivery: Delivery = {
    origin: "",
    postTo: undefined,
    signs: {},
    sockets,
    confirmed,
    event(event) {
      if (delivery.subscribed !== undefined && !delivery.subscribed.has(String(event.type))) return;
      const payload = {
        ...{ token: "old", team_id: team, api_app_id: app, type: "event_callback", event_id: world.nextId("Ev") },
        ...{ event_time: Math.floor(Date.now() / 1_000), is_ext_shared_channel: false },
        authorizations: [{ enterprise_id: null, team_id: team, user_id: bot.user, is_bot: true }],
        event: { event_ts: event.ts ?? world.nextTs(), ...event },
      };
      last = { id: world.nextId("E"), kind: "events_api", payload, attempt: 0 };
      give(last);
    },
    interactive(payload) {
      give({ id: world.nextId("E"), kind: "interactive", payload, attempt: 0 });
    },
    command(form) {
      give({ id: world.nextId("E"), kind: "slash_commands", payload: form, attempt: 0 });
    },
    connect(socket, complain) {
      sockets.add(socket);
      const debug_info = { host: "applink-1", approximate_connection_time: 18_060 };
      const connection_info = { app_id: app };
      socket.send(JSON.stringify({ type: "hello", num_connections: sockets.size, debug_info, connection_info }));
      socket.ping();
      socket.onText = (words) => {
        let id: unknown;
        try {
          ({ envelope_id: id } = JSON.parse(words) as { envelope_id?: unknown });
        } catch {
          return complain(`the app sent ${words.slice(0, 100)}`);
        }
        const envelope = waiting.get(String(id));
        if (envelope !== undefined && envelope.at !== socket) complain("an envelope was confirmed on another socket");
        if (envelope !== undefined) done(envelope);
      };
      socket.onClose = () => sockets.delete(socket);
    },
    interaction: (id) => interactions.get(id),
    responseUrl(at) {
      const id = world.nextId("R");
      interactions.set(id, at);
      return `${delivery.origin}/response/${id}`;
    },
    repeat() {
      if (last !== undefined) give({ ...last, id: world.nextId("E"), attempt: 0 });
    },
    mute() {
      clearInterval(pings);
      sockets.clear();
    },
    cut() {
      for (const socket of sockets) socket.cut();
    },
    refresh(reason = "refresh_requested") {
      for (const socket of sockets)
        socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "applink-1" } }));
    },
    close() {
      isClosed = true;
      clearInterval(pings);
      for (const { timer } of waiting.values()) clearTimeout(timer);
      waiting.clear();
      for (const socket of sockets) socket.cut();
    },
  };
  return delivery;
}
