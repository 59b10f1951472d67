/** The server's side of a WebSocket (RFC 6455): text messages, pings, and the end with a code. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

export interface ServerSocket {
  send(text: string): void;
  /** Says goodbye with a code, and ends the connection. */
  close(code: number, reason: string): void;
  /** Ends the connection without a word. */
  destroy(): void;
}

const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const opcodes = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const;
const mostBytes = 1_000_000;

function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const size = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + size);
  head[0] = 0x80 | opcode;
  head[1] = size === 0 ? length : size === 2 ? 126 : 127;
  if (size === 2) head.writeUInt16BE(length, 2);
  if (size === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

export function acceptSocket(
  request: IncomingMessage,
  stream: Duplex,
  handlers: {
    readonly onText: (text: string) => void;
    readonly onClose: (code: number | undefined) => void;
    /** Takes what comes in, and answers nothing. */
    readonly isSilent: () => boolean;
  },
): ServerSocket {
  const key = request.headers["sec-websocket-key"] ?? "";
  const accept = createHash("sha1").update(`${key}${magic}`).digest("base64");
  const lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
  stream.write(`${[...lines, `Sec-WebSocket-Accept: ${accept}`].join("\r\n")}\r\n\r\n`);
  let buffer = Buffer.alloc(0);
  let message = "";
  let code: number | undefined;
  let isOver = false;

  function read(): boolean {
    if (buffer.length < 2) return false;
    const [first = 0, second = 0] = buffer;
    const short = second & 127;
    const size = short < 126 ? 0 : short === 126 ? 2 : 8;
    if (buffer.length < 6 + size) return false;
    const length = size === 0 ? short : size === 2 ? buffer.readUInt16BE(2) : Number(buffer.readBigUInt64BE(2));
    // A client masks each frame.
    if ((second & 128) === 0 || length > mostBytes) {
      stream.destroy();
      return false;
    }
    const end = 6 + size + length;
    if (buffer.length < end) return false;
    const mask = buffer.subarray(2 + size, 6 + size);
    const payload = Buffer.from(buffer.subarray(6 + size, end).map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
    buffer = buffer.subarray(end);
    handle(first, payload);
    return true;
  }

  function handle(first: number, payload: Buffer): void {
    const opcode = first & 15;
    if (handlers.isSilent()) return;
    if (opcode === opcodes.close) {
      code = payload.length >= 2 ? payload.readUInt16BE(0) : undefined;
      if (!isOver) stream.write(frame(opcodes.close, payload));
      stream.end();
    } else if (opcode === opcodes.ping) stream.write(frame(opcodes.pong, payload));
    else if (opcode === opcodes.text || opcode === opcodes.continuation) {
      message += payload.toString("utf8");
      if ((first & 128) === 0) return;
      const whole = message;
      message = "";
      handlers.onText(whole);
    }
  }

  stream.on("data", (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk]);
    while (read());
  });
  stream.on("error", () => {});
  stream.on("close", () => handlers.onClose(code));
  return {
    send(text) {
      if (stream.writable && !handlers.isSilent()) stream.write(frame(opcodes.text, Buffer.from(text)));
    },
    close(closing, reason) {
      isOver = true;
      const payload = Buffer.alloc(2);
      payload.writeUInt16BE(closing, 0);
      if (stream.writable) stream.write(frame(opcodes.close, Buffer.concat([payload, Buffer.from(reason)])));
      stream.end();
    },
    destroy: () => void stream.destroy(),
  };
}
