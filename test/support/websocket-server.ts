/** The server's end of a WebSocket (RFC 6455), for stand-ins of platforms: texts, pings and closes, unfragmented. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

export interface ServerSocket {
  send(text: string): void;
  ping(): void;
  /** Ends the connection with a code, as a server does. */
  close(code?: number): void;
  /** Ends the connection at once, as a broken network does. */
  destroy(): void;
}

const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Accepts an upgrade. */
export function acceptWebSocket(
  request: IncomingMessage,
  stream: Duplex,
  on: { text(text: string): void; closed(): void },
): ServerSocket {
  const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${magic}`).digest("base64");
  const head = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
  stream.write(`${[...head, `Sec-WebSocket-Accept: ${accept}`].join("\r\n")}\r\n\r\n`);
  let unread: Buffer = Buffer.alloc(0);

  function write(opcode: number, payload: Buffer): void {
    if (stream.destroyed || stream.writableEnded) return;
    const { length } = payload;
    const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
    header[0] = 0x80 | opcode;
    if (length < 126) header[1] = length;
    else if (length < 65_536) {
      header[1] = 126;
      header.writeUInt16BE(length, 2);
    } else {
      header[1] = 127;
      header.writeBigUInt64BE(BigInt(length), 2);
    }
    stream.write(Buffer.concat([header, payload]));
  }

  /** The frames of a client are masked. Returns false if there is not a whole one. */
  function readFrame(): boolean {
    if (unread.length < 2) return false;
    const short = (unread[1] ?? 0) & 0x7f;
    const at = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (unread.length < at + 4) return false;
    const length = short === 126 ? unread.readUInt16BE(2) : short === 127 ? Number(unread.readBigUInt64BE(2)) : short;
    if (unread.length < at + 4 + length) return false;
    const mask = unread.subarray(at, at + 4);
    const payload = Buffer.from(unread.subarray(at + 4, at + 4 + length));
    for (let index = 0; index < length; index += 1) payload[index] = (payload[index] ?? 0) ^ (mask[index % 4] ?? 0);
    const opcode = (unread[0] ?? 0) & 0x0f;
    const isMasked = ((unread[1] ?? 0) & 0x80) !== 0;
    unread = unread.subarray(at + 4 + length);
    if (!isMasked) {
      stream.destroy();
      return false;
    }
    if (opcode === 1) on.text(payload.toString("utf8"));
    else if (opcode === 9) write(10, payload);
    else if (opcode === 8) {
      write(8, payload);
      stream.end();
    }
    return true;
  }

  stream.on("data", (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    while (!stream.destroyed && readFrame());
  });
  stream.on("error", () => {});
  stream.on("end", () => stream.end());
  stream.on("close", on.closed);
  return {
    send: (text) => write(1, Buffer.from(text)),
    ping: () => write(9, Buffer.alloc(0)),
    close(code = 1000) {
      const payload = Buffer.alloc(2);
      payload.writeUInt16BE(code);
      write(8, payload);
      stream.end();
    },
    destroy: () => void stream.destroy(),
  };
}
