/** The server's side of a WebSocket (RFC 6455), as strict as the standard: a client's frames are masked. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const mostBytes = 1_048_576;

export interface ServerSocket {
  readonly isOpen: boolean;
  send(text: string): void;
  ping(): void;
  /** With a closing handshake. */
  close(code?: number): void;
  /** As a broken network does. */
  cut(): void;
  onText?: (text: string) => void;
  onClose?: () => void;
}

/** Answers the upgrade; `undefined` if the request is none of a WebSocket, which is then refused. */
export function acceptWebSocket(request: IncomingMessage, stream: Duplex): ServerSocket | undefined {
  const { headers } = request;
  const key = headers["sec-websocket-key"];
  if (
    headers.upgrade?.toLowerCase() !== "websocket" ||
    headers["sec-websocket-version"] !== "13" ||
    key === undefined
  ) {
    stream.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    return undefined;
  }
  const accept = createHash("sha1")
    .update(key + magic)
    .digest("base64");
  stream.write(
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
      `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  let isOpen = true;
  let input = Buffer.alloc(0);
  let pieces: Buffer[] = [];

  function frame(opcode: number, body: Buffer): void {
    if (stream.destroyed || !stream.writable) return;
    const head =
      body.length < 126
        ? Buffer.from([0x80 | opcode, body.length])
        : body.length < 65_536
          ? Buffer.from([0x80 | opcode, 126, body.length >> 8, body.length & 255])
          : Buffer.concat([Buffer.from([0x80 | opcode, 127]), sizeOf(body.length)]);
    stream.write(Buffer.concat([head, body]));
  }

  function ended(): void {
    if (!isOpen) return;
    isOpen = false;
    socket.onClose?.();
  }

  function closeWith(code: number): void {
    const body = Buffer.alloc(2);
    body.writeUInt16BE(code);
    frame(opcodes.close, body);
  }

  function refuse(): void {
    closeWith(1002);
    stream.end();
    ended();
  }

  function read(): void {
    while (input.length >= 2) {
      const [first = 0, second = 0] = input;
      const length = lengthOf(input);
      if (length === undefined) return;
      const { size, offset } = length;
      if ((second & 0x80) === 0 || (first & 0x70) !== 0 || size > mostBytes) {
        refuse();
        return;
      }
      if (input.length < offset + 4 + size) return;
      const mask = input.subarray(offset, offset + 4);
      const body = Buffer.from(input.subarray(offset + 4, offset + 4 + size)).map(
        (byte, at) => byte ^ (mask[at % 4] ?? 0),
      );
      input = input.subarray(offset + 4 + size);
      take(first & 15, (first & 0x80) !== 0, Buffer.from(body));
      if (!isOpen) return;
    }
  }

  function take(opcode: number, isLast: boolean, body: Buffer): void {
    if (opcode === opcodes.ping) frame(opcodes.pong, body);
    else if (opcode === opcodes.close) {
      frame(opcodes.close, body);
      stream.end();
      ended();
    } else if (opcode !== opcodes.pong) {
      pieces.push(body);
      if (!isLast) return;
      const whole = Buffer.concat(pieces).toString("utf8");
      pieces = [];
      socket.onText?.(whole);
    }
  }

  const socket: ServerSocket = {
    get isOpen() {
      return isOpen;
    },
    send: (text) => frame(opcodes.text, Buffer.from(text)),
    ping: () => frame(opcodes.ping, Buffer.from("ping")),
    close: (code = 1000) => closeWith(code),
    cut() {
      stream.destroy();
      ended();
    },
  };
  stream.on("data", (chunk: Buffer) => {
    input = Buffer.concat([input, chunk]);
    if (isOpen) read();
  });
  stream.on("error", ended);
  stream.on("close", ended);
  return socket;
}

function sizeOf(length: number): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(length));
  return size;
}

function lengthOf(input: Buffer): { readonly size: number; readonly offset: number } | undefined {
  const short = (input[1] ?? 0) & 0x7f;
  if (short < 126) return { size: short, offset: 2 };
  if (short === 126) return input.length < 4 ? undefined : { size: input.readUInt16BE(2), offset: 4 };
  return input.length < 10 ? undefined : { size: Number(input.readBigUInt64BE(2)), offset: 10 };
}
