/**
 * Detects that a client has finished sending. The server still answers half-closed connections, so this does not mean that the client has
 * gone.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Calls `left` once, when the client closes its sending side or the connection. A lost client looks the same, so callers should end a
 * pending or streaming answer promptly.
 */
export function onClientEnd(request: IncomingMessage, response: ServerResponse, left: () => void): void {
  const { socket } = request;
  let notified = false;
  const notify = (): void => {
    socket.removeListener("end", notify);
    response.removeListener("close", notify);
    if (notified) return;
    notified = true;
    left();
  };
  if (socket.readableEnded || socket.destroyed) {
    notify();
    return;
  }
  socket.once("end", notify);
  response.once("close", notify);
}
