/** A connection to a server, line by line. */
import { readFileSync } from "node:fs";
import { isIP, connect as overTcp } from "node:net";
import { connect as overTls } from "node:tls";
import { type Line, parseLine } from "./line.ts";

const longestLine = 16_384;

export interface Link {
  write(line: string): void;
  /** Says goodbye where that is possible. */
  close(): void;
  /** Ends the connection for a reason. */
  fail(error: Error): void;
  readonly lost: Promise<Error>;
}

export function openLink(
  { server: host, port, tls, caFile }: { readonly server: string; readonly port: number; readonly tls: boolean; readonly caFile?: string },
  onLine: (line: Line) => void,
): Link {
  const ca = caFile === undefined ? {} : { ca: readFileSync(caFile) };
  const socket = tls ? overTls({ host, port, ...ca, ...(isIP(host) === 0 && { servername: host }) }) : overTcp({ host, port });
  const { promise: lost, resolve } = Promise.withResolvers<Error>();
  let failure = new Error("The server closed the connection");
  let rest = "";
  let isOpen = false;
  socket.setEncoding("utf8").setNoDelay();
  socket.on("data", (chunk: string) => {
    // Nothing but a line feed ends a line: with U+2028, a text of a person would pass for a line of the server.
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > longestLine) socket.destroy(new Error("The server sent a line without an end"));
    for (const text of lines) {
      const line = parseLine(text.replace(/\r$/, ""));
      if (line !== undefined) onLine(line);
    }
  });
  socket.once(tls ? "secureConnect" : "connect", () => {
    isOpen = true;
  });
  socket.on("error", (error) => {
    failure = error;
  });
  socket.on("close", () => resolve(failure));
  return {
    lost,
    write: (line) => void socket.write(`${line}\r\n`),
    close: () => void (isOpen ? socket.end("QUIT\r\n", () => socket.destroy()) : socket.destroy()),
    fail: (error) => void socket.destroy(error),
  };
}
