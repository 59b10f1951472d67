/** Bytes are exchanged with the host as strings with one character for each byte. The host does the encodings. */
import { ask } from "./bridge.ts";

const step = 8_192;

export type Encoding =
  | "utf8"
  | "utf-8"
  | "hex"
  | "base64"
  | "base64url"
  | "latin1"
  | "binary"
  | "ascii"
  | "utf16le"
  | "ucs2";

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

/**
 * The host takes a long text in parts, because the time limit does not apply within one request. Divisible by 2, 3 and
 * 4.
 */
const part = 32_760;

const isPairSplit = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff;
};
const isByteInside = (binary: string, at: number): boolean => (binary.charCodeAt(at) & 0xc0) === 0x80;

/**
 * Computes a long text part by part. `isInside` says that a character must not be split at a place; four bytes are the
 * longest one.
 */
function inParts(
  text: string,
  compute: (text: string, isFirst: boolean) => string,
  isInside: (text: string, at: number) => boolean = () => false,
): string {
  if (text.length <= part) return compute(text, true);
  let result = "";
  for (let from = 0, to = part; from < text.length; to = from + part) {
    for (let back = 0; back < 3 && to < text.length && isInside(text, to); back++) to--;
    result += compute(text.slice(from, to), from === 0);
    from = to;
  }
  return result;
}

export const inUtf8Parts = (binary: string, compute: (binary: string, isFirst: boolean) => string): string =>
  inParts(binary, compute, isByteInside);

export function encode(text: string, encoding: Encoding = "utf8"): string {
  const bytesOf = (one: string): string => ask("bytes", one, encoding);
  if (text.length <= part) return bytesOf(text);
  const name = String(encoding).toLowerCase();
  if (name.startsWith("base64")) return inParts(text.replace(/[^\w+/-]+/g, ""), bytesOf);
  if (name !== "hex") return inParts(text, bytesOf, isPairSplit);
  // As in Node, the bytes end at the first pair that is not hexadecimal.
  let isOver = false;
  return inParts(text, (one) => {
    const bytes = isOver ? "" : bytesOf(one);
    isOver ||= bytes.length < one.length >> 1;
    return bytes;
  });
}

export const decode = (binary: string, encoding: Encoding = "utf8"): string =>
  inParts(binary, (one) => ask("text", one, encoding), /^utf-?8$/i.test(encoding) ? isByteInside : undefined);

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
    if (value instanceof ArrayBuffer)
      return new GuestBuffer(value, encoding as number | undefined, length as number | undefined);
    const data =
      (value as { readonly type?: unknown; readonly data?: unknown }).type === "Buffer"
        ? (value as { data: number[] }).data
        : value;
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
