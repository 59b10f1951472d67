/** The live connection: signs in, hears events, and notices that the server is silent. */
import { ChannelError, type OnFault } from "service-gateway/sdk/channel";
import type { Api } from "../api.ts";
import { codes } from "../codes.ts";
import { type Fields, number, parseJson, record, text } from "../fields.ts";
import { openLink } from "./link.ts";
import { countEvent, type Resume } from "./sequence.ts";

export interface Socket {
  /** Resolves with the reason when the connection is lost. */
  readonly lost: Promise<unknown>;
  /** The server's time of the sign-in, in epoch milliseconds. */
  readonly serverTime: number;
  /** Returns whether the server was informed. */
  typing(channel: string, thread: string | undefined): boolean;
  /** The connection can no longer be relied on: it is made again. */
  fail(reason: unknown): void;
  close(): void;
  /** Resolves when nothing of it is left. */
  readonly ended: Promise<unknown>;
}

const pingEveryMs = 30_000;

const lostBy = (reason: string, detail?: string) =>
  new ChannelError(reason, { retryable: true, ...(detail !== undefined && { detail }) });

const refused = (detail: string) =>
  new ChannelError("websocket_refused", { retryable: true, detail, hint: codes.websocket_refused.hint });

export async function openSocket({
  api: { root, headers },
  token,
  resume,
  onEvent,
  onTime,
  fault,
  signal,
}: {
  readonly api: Pick<Api, "root" | "headers">;
  readonly token: string;
  readonly resume: Resume;
  onEvent(event: Fields): void;
  /** All events before this time of the server have come. */
  onTime(serverTime: number): void;
  readonly fault: OnFault;
  /** Ends the attempt; once it has succeeded, the connection. */
  readonly signal: AbortSignal;
}): Promise<Socket> {
  const address = `${root.replace(/^http/, "ws")}websocket`;
  const ready = Promise.withResolvers<number>();
  const lost = Promise.withResolvers<unknown>();
  let isReady = false;
  let isAlive = true;
  let requests = 0;
  let timer: NodeJS.Timeout | undefined;

  function request(action: string, data?: Fields): boolean {
    requests += 1;
    return link.send(JSON.stringify({ action, seq: requests, data }));
  }

  function fail(reason: unknown): void {
    clearInterval(timer);
    signal.removeEventListener("abort", close);
    ready.reject(reason);
    lost.resolve(reason);
    link.close();
  }
  const close = () => fail(lostBy("aborted"));

  function ping(): void {
    if (!isAlive) fail(lostBy("timeout", "The server does not answer"));
    isAlive = false;
    request("ping");
  }

  function replied({ status, error, data }: Fields): void {
    const { text: answer, server_time } = record(data);
    if (status !== "OK" && !isReady) fail(refused(text(record(error).message)));
    if (status !== "OK" || answer !== "pong") return;
    isReady = true;
    ready.resolve(number(server_time));
    onTime(number(server_time));
  }

  function heard(message: Fields): void {
    isAlive = true;
    if (number(message.seq_reply) > 0) replied(message);
    else if (typeof message.event === "string") {
      const missed = countEvent(message, resume);
      if (missed === undefined) onEvent(message);
      else fail(missed);
    }
  }

  // The header lets the server find the connection to resume.
  const link = openLink(`${address}?connection_id=${resume.connectionId}&sequence_number=${resume.next}`, {
    headers,
    fault,
    opened() {
      // A proxy may have taken the header away.
      request("authentication_challenge", { token });
      request("ping");
      timer = setInterval(ping, pingEveryMs);
    },
    text: (json) => heard(record(parseJson(json))),
    broken: () => fail(isReady ? lostBy("network", "The connection broke") : refused(`No WebSocket at ${address}`)),
    closed: (code) => fail(lostBy("network", `The server closed the connection (${code})`)),
  });
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  return {
    lost: lost.promise,
    serverTime: await ready.promise,
    typing: (channel, thread) => request("user_typing", { channel_id: channel, parent_id: thread ?? "" }),
    fail,
    close,
    ended: link.ended,
  };
}
