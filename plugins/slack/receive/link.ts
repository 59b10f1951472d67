/** One socket to Slack: what comes by it, and whether it still lives. */
import diagnostics from "node:diagnostics_channel";
import { type ChannelAccount, createSourceFaultLog, onEvent, onMessage } from "service-gateway/sdk/channel";
import { type Fields, record } from "../fields.ts";

/** Slack pings about every ten seconds. */
const silentMs = 60_000;
const helloMs = 20_000;
const source = "Slack's socket";

export interface Link {
  /** Resolves when Slack has confirmed the connection (`hello`), and rejects if it does not. */
  readonly hello: Promise<void>;
  /** `false`: the socket is closed. */
  send(envelope: Fields): boolean;
  close(): void;
}

/** The built-in socket answers a ping by itself, and shows it here alone. */
const pings = "undici:websocket:ping";

/** `take` gets every envelope, `closed` is called once. */
export function openLink(
  address: string,
  { log, take, closed }: { readonly log: ChannelAccount["log"]; take(envelope: Fields): void; closed(): void },
): Link {
  const socket = new WebSocket(address);
  const hello = Promise.withResolvers<void>();
  hello.promise.catch(() => {});
  const fault = createSourceFaultLog(log);
  let isClosed = false;
  let timer = setTimeout(close, helloMs);

  function hear(): void {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(close, silentMs);
  }
  function onPing(message: unknown): void {
    if ((message as { readonly websocket?: unknown } | undefined)?.websocket === socket) hear();
  }
  function close(): void {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(timer);
    diagnostics.unsubscribe(pings, onPing);
    hello.reject(new Error("Slack did not confirm the connection"));
    socket.close();
    closed();
  }

  diagnostics.subscribe(pings, onPing);
  const emitter = {
    on: (event: string, listener: EventListener) => socket.addEventListener(event, listener),
    off: (event: string, listener: EventListener) => socket.removeEventListener(event, listener),
  };
  onEvent(emitter, "close", { source, fault, handle: close });
  onEvent(emitter, "error", { source, fault, handle: close });
  onMessage(emitter, "message", {
    ...{ source, fault, check: envelopeOf },
    handle(envelope) {
      hear();
      if (envelope.type === "hello") hello.resolve();
      else if (!isClosed) take(envelope);
    },
  });
  return {
    hello: hello.promise,
    send(envelope) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(envelope));
      return true;
    },
    close,
  };
}

function envelopeOf(event: unknown): Fields | undefined {
  try {
    const envelope = record(JSON.parse(String((event as { readonly data?: unknown }).data)));
    return typeof envelope?.type === "string" ? envelope : undefined;
  } catch {
    return undefined;
  }
}
