/** Bytes are exchanged with the host as strings with one character for each byte. The host does the encodings. */
import { ask } from "./bridge.ts";

const step = 8_192;

export type Encoding = "utf8" | "utf-8" | "hex" | "base64" | "base64url" | "latin1" | "binary" | "ascii" | "utf16le" | "ucs2";

function toBinary(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += step) text += String.fromCharCode(...bytes.subarray(at, at + step));
  return text;
}

export function fillBinary<B extends Uint8Array>(bytes: B, text: string): B {
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

export const fromBinary = (text: string): Uint8Array<ArrayBuffer> => fillBinary(new Uint8Array(text.length), text);

export const encode = (text: string, encoding: Encoding = "utf8"): string => ask("bytes", text, encoding);
export const decode = (binary: string, encoding: Encoding = "utf8"): string => ask("text", binary, encoding);

/** The bytes of any value that Node and the web accept as data. */
export function binaryOf(data: unknown, encoding?: Encoding): string {
  if (typeof data === "string") return encode(data, encoding);
  if (data instanceof ArrayBuffer) return toBinary(new Uint8Array(data));
  if (ArrayBuffer.isView(data)) return toBinary(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  throw new TypeError("The data must be a string, a Buffer, a TypedArray or an ArrayBuffer");
}

class GuestBuffer extends Uint8Array<ArrayBuffer> {
  constructor(from: number | ArrayBuffer, at?: number, length?: number) {
    super(from as ArrayBuffer, at, length);
  }
  static override from(value: unknown, encoding?: unknown, length?: unknown): GuestBuffer {
    if (typeof value === "string") return bufferOf(encode(value, encoding as Encoding | undefined));
    if (value instanceof ArrayBuffer) return new GuestBuffer(value, encoding as number | undefined, length as number | undefined);
    const data =
      (value as { readonly type?: unknown; readonly data?: unknown }).type === "Buffer" ? (value as { data: number[] }).data : value;
    const list = Array.from(data as ArrayLike<number>);
    const buffer = new GuestBuffer(list.length);
    buffer.set(list);
    return buffer;
  }
  static alloc(size: number, fill: number | string = 0, encoding?: Encoding): GuestBuffer {
    const buffer = new GuestBuffer(size);
    if (typeof fill === "number") return buffer.fill(fill);
    const bytes = fromBinary(encode(fill, encoding));
    for (let at = 0; at < size && bytes.length > 0; at++) buffer[at] = bytes[at % bytes.length] as number;
    return buffer;
  }
  static allocUnsafe(size: number): GuestBuffer {
    return new GuestBuffer(size);
  }
  static concat(list: readonly Uint8Array[], length = list.reduce((sum, one) => sum + one.length, 0)): GuestBuffer {
    return bufferOf(list.map(toBinary).join("").slice(0, length).padEnd(length, "\0"));
  }
  static byteLength(value: string | ArrayBuffer | Uint8Array, encoding?: Encoding): number {
    return typeof value === "string" ? encode(value, encoding).length : value.byteLength;
  }
  static isBuffer(value: unknown): boolean {
    return value instanceof GuestBuffer;
  }
  static isEncoding(name: string): boolean {
    return /^(?:utf-?8|hex|base64(?:url)?|latin1|binary|ascii|utf16le|ucs2)$/i.test(name);
  }
  static compare(a: Uint8Array, b: Uint8Array): number {
    const [left, right] = [toBinary(a), toBinary(b)];
    return left < right ? -1 : left > right ? 1 : 0;
  }
  override toString(encoding?: Encoding, start = 0, end = this.length): string {
    return decode(toBinary(this.subarray(start, end)), encoding);
  }
  toJSON(): { type: "Buffer"; data: number[] } {
    return { type: "Buffer", data: Array.from(this) };
  }
  equals(other: Uint8Array): boolean {
    return toBinary(this) === toBinary(other);
  }
  override slice(start?: number, end?: number): GuestBuffer {
    return this.subarray(start, end) as GuestBuffer;
  }
}

export const bufferOf = (binary: string): GuestBuffer => fillBinary(new GuestBuffer(binary.length), binary);
export { GuestBuffer };
