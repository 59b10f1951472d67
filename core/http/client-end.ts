/** Clients that have sent everything: a half-closed connection is answered, so the end of what a client sends is not yet its end. */
import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Calls `left` once, when the client closes its sending side, or the connection. A client that is gone for good looks the same,
 * so an answer that is held or goes on is given up or given at once.
 */
export function onClientEnd(request: IncomingMessage, response: ServerResponse, left: () => void): void {
  const { socket } = request;
  let told = false;
  const tell = (): void => {
    socket.removeListener("end", tell);
    response.removeListener("close", tell);
    if (told) return;
    told = true;
    left();
  };
  if (socket.readableEnded || socket.destroyed) {
    tell();
    return;
  }
  socket.once("end", tell);
  response.once("close", tell);
}
