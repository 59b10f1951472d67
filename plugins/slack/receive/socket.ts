/**
 * Socket Mode: events by a WebSocket that the app opens, each confirmed.
 * https://docs.slack.dev/apis/events-api/using-socket-mode
 */
import { type ChannelAccount, ChannelError } from "service-gateway/sdk/channel";
import { type Fields, text } from "../fields.ts";
import { type Link, openLink } from "./link.ts";

/** How long a socket that is replaced may still deliver. */
const overlapMs = 30_000;

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

/** Opens a socket, and another one before Slack closes it. Resolves once Slack has confirmed it. */
export async function openSocketMode({ url, take, log }: Options, signal: AbortSignal): Promise<SocketMode> {
  const links = new Set<Link>();
  const replaced = new Set<NodeJS.Timeout>();
  const loss = Promise.withResolvers<never>();
  loss.promise.catch(() => {});
  let isClosed = false;
  let refreshing: Promise<void> | undefined;

  function end(reason: Error): void {
    if (isClosed) return;
    isClosed = true;
    for (const timer of replaced) clearTimeout(timer);
    for (const link of links) link.close();
    loss.reject(reason);
  }

  async function confirm(link: Link, envelope: Fields): Promise<void> {
    const id = text(envelope.envelope_id);
    if (id === undefined) return;
    try {
      await take(envelope);
      link.send({ envelope_id: id });
    } catch (error) {
      log.debug({ reason: String(error) }, "an event was not stored, so it is not confirmed");
    }
  }

  async function add(stop?: AbortSignal): Promise<void> {
    const address = await url(stop);
    if (isClosed) throw new Error("the connection was closed");
    const link = openLink(address, {
      log,
      take: (envelope) => {
        if (envelope.type === "disconnect") onDisconnect(link, envelope.reason);
        else void confirm(link, envelope);
      },
      closed() {
        links.delete(link);
        if (links.size === 0 && refreshing === undefined)
          end(new Error("Slack did not answer, or closed the connection"));
      },
    });
    links.add(link);
    const abort = () => link.close();
    stop?.addEventListener("abort", abort, { once: true });
    await link.hello.finally(() => stop?.removeEventListener("abort", abort));
  }

  async function replaceAll(): Promise<void> {
    const before = [...links];
    await add();
    const timer = setTimeout(() => {
      replaced.delete(timer);
      for (const link of before) link.close();
    }, overlapMs);
    replaced.add(timer);
    if (isClosed) clearTimeout(timer);
  }

  function onDisconnect(link: Link, reason: unknown): void {
    if (reason === "link_disabled") {
      // The operator has switched Socket Mode off; it may be on again later.
      const detail = "Slack ended the connection: link_disabled";
      end(new ChannelError("socket_mode_off", { retryable: true, detail }));
      return;
    }
    // Such as `too_many_websockets`: another socket would be refused as well.
    if (reason !== "warning" && reason !== "refresh_requested") {
      link.close();
      return;
    }
    refreshing ??= replaceAll()
      .catch((error: unknown) => log.debug({ reason: String(error) }, "the next socket could not be opened yet"))
      .finally(() => {
        refreshing = undefined;
        if (links.size === 0) end(new Error("Slack closed the connection"));
      });
  }

  try {
    await add(signal);
  } catch (error) {
    end(error as Error);
    throw error;
  }
  return { lost: loss.promise, close: () => end(new Error("the connection was closed")) };
}
