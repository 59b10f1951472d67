/** The child's end of the pipe: length-prefixed JSON on a descriptor of its own, read and written without an event that user code could catch. */
import { readSync, writeSync } from "node:fs";
import { decode, defineProperty, encodeInto, IntrinsicBytes, IntrinsicMemory, parseJson, setPrototypeOf } from "./intrinsics.ts";

/** After stdin, stdout and stderr. */
const descriptor = 3;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const smallSize = 65_536;
const small = createBytes(smallSize);

interface Bytes {
  /** Has no prototype: a getter or a species that user code puts on one would be handed the frame, to read and to rewrite. */
  readonly array: Uint8Array;
  readonly memory: ArrayBuffer;
  readonly size: number;
}

function createBytes(size: number): Bytes {
  const memory = new IntrinsicMemory(size);
  const array = new IntrinsicBytes(memory);
  // What Node looks up on bytes that it reads into.
  defineProperty(array, "byteLength", { value: size });
  setPrototypeOf(array, null);
  return { array, memory, size };
}

/** Not `subarray`, which asks the constructor that the bytes name. */
function part({ memory }: Bytes, at: number, length: number): Uint8Array {
  return setPrototypeOf(new IntrinsicBytes(memory, at, length), null) as Uint8Array;
}

/** Fills `target` from `at` until it holds `wanted` bytes; -1 at the end of the pipe. */
function fill({ array, size }: Bytes, at: number, wanted: number): number {
  let filled = at;
  while (filled < wanted) {
    const count = readSync(descriptor, array, filled, size - filled, null);
    if (count === 0) return -1;
    filled += count;
  }
  return filled;
}

/** Waits for the next request; `undefined` when the gateway is gone. One request is under way at a time, so none is read too far. */
export function readRequest(): unknown {
  const filled = fill(small, 0, 4);
  if (filled === -1) return undefined;
  const { array } = small;
  const length = (array[0] as number) * 16_777_216 + (array[1] as number) * 65_536 + (array[2] as number) * 256 + (array[3] as number);
  if (length + 4 <= smallSize) {
    if (fill(small, filled, length + 4) === -1) return undefined;
    return parseJson(decode(decoder, part(small, 4, length)));
  }
  const large = createBytes(length);
  for (let index = 4; index < filled; index++) large.array[index - 4] = array[index] as number;
  return fill(large, filled - 4, length) === -1 ? undefined : parseJson(decode(decoder, part(large, 0, length)));
}

export function writeReply(json: string): void {
  // Three bytes are the most that one unit of a JavaScript text takes in UTF-8.
  const room = 4 + json.length * 3;
  const frame = room <= smallSize ? small : createBytes(room);
  const { written } = encodeInto(encoder, json, part(frame, 4, frame.size - 4));
  const { array } = frame;
  array[0] = written >>> 24;
  array[1] = (written >>> 16) & 255;
  array[2] = (written >>> 8) & 255;
  array[3] = written & 255;
  let sent = 0;
  while (sent < written + 4) sent += writeSync(descriptor, array, sent, written + 4 - sent);
}
