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
