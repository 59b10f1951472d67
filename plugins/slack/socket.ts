/** Socket Mode: events by a WebSocket that the app opens, each confirmed. https://docs.slack.dev/apis/events-api/using-socket-mode */
import diagnostics from "node:diagnostics_channel";
import { type ChannelAccount, ChannelError } from "service-gateway/sdk/channel";
import { type Fields, record, text } from "./fields.ts";

/** Slack pings about every ten seconds. */
const silentMs = 60_000;
/** How long a socket that is replaced may still deliver. */
const overlapMs = 30_000;
const helloMs = 20_000;

export interface SocketMode {
  /** Rejects with the reason when no socket is left. */
  readonly lost: Promise<never>;
  close(): void;
}

interface Options {
  /** A new address: each can be used once. */
  url(signal?: AbortSignal): Promise<string>;
  /** Confirmed when it resolves; a rejection leaves the envelope to Slack, which sends it again. */
  take(envelope: Fields): Promise<void>;
  readonly log: ChannelAccount["log"];
}

interface Link {
  readonly socket: WebSocket;
  close(): void;
}

/** Opens a socket, and another one before Slack closes it. Resolves once Slack has said hello. */
export async function openSocketMode({ url, take, log }: Options, signal: AbortSignal): Promise<SocketMode> {
  const links = new Set<Link>();
  const loss = Promise.withResolvers<never>();
  loss.promise.catch(() => {});
  let isClosed = false;
  let refreshing: Promise<void> | undefined;

  function end(reason: Error): void {
    if (isClosed) return;
    isClosed = true;
    diagnostics.unsubscribe("undici:websocket:ping", onPing);
    for (const link of links) link.close();
    loss.reject(reason);
  }

  /** The built-in socket answers a ping by itself, and shows it here alone. */
  const heard = new WeakMap<WebSocket, () => void>();
  function onPing(message: unknown): void {
    const socket = (message as { readonly websocket?: WebSocket } | undefined)?.websocket;
    if (socket !== undefined) heard.get(socket)?.();
  }

  async function confirm(socket: WebSocket, envelope: Fields): Promise<void> {
    const id = text(envelope.envelope_id);
    if (id === undefined) return;
    try {
      await take(envelope);
    } catch (error) {
      log.debug({ reason: (error as { code?: unknown }).code }, "an event was not stored, so it is not confirmed");
      return;
    }
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ envelope_id: id }));
  }

  function refresh(): void {
    refreshing ??= replaceAll()
      .catch((error: unknown) => log.debug({ reason: String(error) }, "the next socket could not be opened yet"))
      .finally(() => {
        refreshing = undefined;
        if (links.size === 0) end(new Error("Slack closed the connection"));
      });
  }

  async function replaceAll(): Promise<void> {
    const before = [...links];
    await add();
    for (const link of before) {
      const timer = setTimeout(() => link.close(), overlapMs);
      link.socket.addEventListener("close", () => clearTimeout(timer));
      if (isClosed) clearTimeout(timer);
    }
  }

  function onDisconnect(reason: unknown): void {
    // The operator has switched Socket Mode off; it may be on again later.
    if (reason === "link_disabled")
      end(
        new ChannelError("socket_mode_off", { retryable: true, detail: "Slack ended the connection: link_disabled" }),
      );
    else refresh();
  }

  async function add(stop?: AbortSignal): Promise<void> {
    const address = await url(stop);
    if (isClosed) throw new Error("closed");
    const socket = new WebSocket(address);
    const hello = Promise.withResolvers<void>();
    let timer = setTimeout(close, helloMs);
    const link: Link = { socket, close };
    links.add(link);

    function close(): void {
      clearTimeout(timer);
      hello.reject(new Error("Slack said no hello"));
      links.delete(link);
      socket.close();
      if (links.size === 0 && refreshing === undefined)
        end(new Error("Slack did not answer, or closed the connection"));
    }
    const hear = () => {
      clearTimeout(timer);
      if (links.has(link)) timer = setTimeout(close, silentMs);
    };
    heard.set(socket, hear);
    socket.addEventListener("close", close);
    socket.addEventListener("error", close);
    stop?.addEventListener("abort", close, { once: true });
    socket.addEventListener("message", ({ data }) => {
      const envelope = parsed(data);
      hear();
      if (envelope?.type === "hello") hello.resolve();
      else if (envelope?.type === "disconnect") onDisconnect(envelope.reason);
      else if (envelope !== undefined && !isClosed) void confirm(socket, envelope);
    });
    await hello.promise.finally(() => stop?.removeEventListener("abort", close));
  }

  diagnostics.subscribe("undici:websocket:ping", onPing);
  try {
    await add(signal);
  } catch (error) {
    end(error as Error);
    throw error;
  }
  return { lost: loss.promise, close: () => end(new Error("closed")) };
}

function parsed(data: unknown): Fields | undefined {
  try {
    return record(JSON.parse(String(data)));
  } catch {
    return undefined;
  }
}
