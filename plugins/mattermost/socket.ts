/** The WebSocket: signs in, counts the events, and notices that the server is silent. */
import { ChannelError } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import { type Fields, number, parseJson, record, text } from "./fields.ts";

/** Where a later connection goes on, so that the server sends what was lost with the one before. */
export interface Resume {
  connectionId: string;
  /** The number of the next event. */
  next: number;
}

export interface Socket {
  /** Resolves with the reason when the connection is lost. */
  readonly lost: Promise<unknown>;
  /** The server's time of the sign-in, in epoch milliseconds. */
  readonly serverTime: number;
  typing(channel: string, thread: string | undefined): boolean;
  /** The connection can no longer be relied on: it is made again. */
  fail(reason: unknown): void;
  close(): void;
  /** Resolves when nothing of it is left. */
  readonly ended: Promise<unknown>;
}

const pingEveryMs = 30_000;

export async function openSocket({
  api,
  token,
  resume,
  onEvent,
  onTime,
  signal,
}: {
  readonly api: Pick<Api, "root" | "headers">;
  readonly token: string;
  readonly resume: Resume;
  onEvent(event: Fields): void;
  /** All events before this time of the server have come. */
  onTime(serverTime: number): void;
  /** Ends the attempt; once it has succeeded, the connection. */
  readonly signal: AbortSignal;
}): Promise<Socket> {
  const query = `connection_id=${resume.connectionId}&sequence_number=${resume.next}`;
  const address = `${api.root.replace(/^http/, "ws")}websocket?${query}`;
  // The header lets the server find the connection to resume; `headers` is an extension of Node.
  const socket = new WebSocket(address, { headers: api.headers } as never);
  const ready = Promise.withResolvers<number>();
  const lost = Promise.withResolvers<unknown>();
  const ended = new Promise((resolve) => socket.addEventListener("close", resolve));
  let isReady = false;
  let isAlive = true;
  let requests = 0;
  let timer: NodeJS.Timeout | undefined;

  function request(action: string, data?: Fields): void {
    requests += 1;
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ action, seq: requests, data }));
  }

  function fail(reason: unknown): void {
    clearInterval(timer);
    signal.removeEventListener("abort", aborted);
    ready.reject(reason);
    lost.resolve(reason);
    socket.close();
  }
  const aborted = () => fail(new ChannelError("aborted", { retryable: true }));

  function ping(): void {
    if (!isAlive) {
      fail(new ChannelError("timeout", { retryable: true, detail: "The server does not answer" }));
      return;
    }
    isAlive = false;
    request("ping");
  }

  function replied(message: Fields): void {
    if (message.status !== "OK") {
      const { id, message: words } = record(message.error);
      const isRefused = text(id) === "api.web_socket_router.not_authenticated.app_error";
      if (!isReady && isRefused) fail(new ChannelError("websocket_refused", { retryable: true, detail: text(words) }));
      return;
    }
    const { text: answer, server_time } = record(message.data);
    if (answer !== "pong") return;
    isReady = true;
    ready.resolve(number(server_time));
    onTime(number(server_time));
  }

  function counted(message: Fields): boolean {
    const sequence = number(message.seq);
    const connection = text(record(message.data).connection_id);
    if (message.event === "hello" && connection !== resume.connectionId) {
      resume.connectionId = connection;
      resume.next = sequence;
    }
    if (sequence === resume.next) {
      resume.next += 1;
      return true;
    }
    // What is missing is fetched over REST; a connection that goes on here would miss it as well.
    resume.connectionId = "";
    resume.next = 0;
    const detail = `The event ${sequence} does not follow the one before`;
    fail(new ChannelError("events_missed", { retryable: true, detail }));
    return false;
  }

  socket.addEventListener("open", () => {
    // A proxy may have taken the header away.
    request("authentication_challenge", { token });
    request("ping");
    timer = setInterval(ping, pingEveryMs);
  });
  socket.addEventListener("message", ({ data }) => {
    const message = record(typeof data === "string" ? parseJson(data) : undefined);
    isAlive = true;
    if (number(message.seq_reply) > 0) replied(message);
    else if (typeof message.event === "string" && counted(message)) onEvent(message);
  });
  socket.addEventListener("error", () => {
    const detail = isReady ? "The connection broke" : `No WebSocket at ${address.split("?")[0]}`;
    fail(new ChannelError(isReady ? "network" : "websocket_refused", { retryable: true, detail }));
  });
  socket.addEventListener("close", ({ code }) =>
    fail(new ChannelError("network", { retryable: true, detail: `The server closed the connection (${code})` })),
  );
  signal.addEventListener("abort", aborted, { once: true });
  if (signal.aborted) aborted();
  const serverTime = await ready.promise;
  return {
    lost: lost.promise,
    serverTime,
    typing(channel, thread) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      request("user_typing", { channel_id: channel, parent_id: thread ?? "" });
      return true;
    },
    fail,
    close: () => fail(new ChannelError("aborted", { retryable: true })),
    ended,
  };
}
