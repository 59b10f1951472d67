/**
 * Detects that a client has finished sending. The server still answers half-closed connections, so this does not mean
 * that the client has gone.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { onEvent } from "../listeners/index.ts";

/**
 * Calls `left` once, when the client closes its sending side or the connection. A lost client looks the same, so
 * callers should end a pending or streaming answer promptly.
 */
export function onClientEnd(request: IncomingMessage, response: ServerResponse, left: () => void): void {
  const { socket } = request;
  let notified = false;
  const stops: (() => void)[] = [];
  const notify = (): void => {
    for (const stop of stops) stop();
    if (notified) return;
    notified = true;
    left();
  };
  if (socket.readableEnded || socket.destroyed) {
    notify();
    return;
  }
  const source = "a client";
  stops.push(
    onEvent(socket, "end", { source, handle: notify }),
    onEvent(response, "close", { source, handle: notify }),
  );
}
