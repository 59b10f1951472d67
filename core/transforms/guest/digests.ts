/** Hashes, HMAC and random numbers: the web's `crypto` and the corresponding part of `node:crypto`. */
import { ask } from "./bridge.ts";
import { binaryOf, bufferOf, type Encoding, fillBinary, fromBinary } from "./bytes.ts";

const digest = (algorithm: unknown, binary: string): string => ask("digest", String(algorithm), binary);
const hmac = (algorithm: unknown, key: string, binary: string): string => ask("hmac", String(algorithm), key, binary);

const randomUUID = (): string => ask("uuid");
const randomBytes = (size: number) => bufferOf(ask("random", size));

function getRandomValues<T extends ArrayBufferView>(target: T): T {
  fillBinary(
    new Uint8Array(target.buffer as ArrayBuffer, target.byteOffset, target.byteLength),
    ask("random", target.byteLength),
  );
  return target;
}

/** A hash object. Unlike in Node, it is not a stream. */
class Hash {
  #chunks: string[] = [];
  readonly #finish: (binary: string) => string;
  constructor(finish: (binary: string) => string) {
    this.#finish = finish;
  }
  update(data: unknown, encoding?: Encoding): this {
    this.#chunks.push(binaryOf(data, encoding));
    return this;
  }
  digest(encoding?: Encoding): unknown {
    const bytes = bufferOf(this.#finish(this.#chunks.join("")));
    return encoding === undefined ? bytes : bytes.toString(encoding);
  }
}

const createHash = (algorithm: string): Hash => new Hash((binary) => digest(algorithm, binary));
const createHmac = (algorithm: string, key: unknown): Hash =>
  new Hash((binary) => hmac(algorithm, binaryOf(key), binary));
const hash = (algorithm: string, data: unknown, encoding: Encoding = "hex"): unknown =>
  createHash(algorithm).update(data).digest(encoding);

function timingSafeEqual(a: unknown, b: unknown): boolean {
  const [left, right] = [binaryOf(a), binaryOf(b)];
  if (left.length !== right.length) throw new RangeError("Input buffers must have the same byte length");
  let difference = 0;
  for (let at = 0; at < left.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
  return difference === 0;
}

interface Key {
  readonly type: "secret";
  readonly algorithm: { readonly name: "HMAC"; readonly hash: { readonly name: string } };
  readonly usages: readonly string[];
  readonly extractable: false;
}

const secrets = new WeakMap<object, string>();
const nameOf = (algorithm: unknown): string =>
  typeof algorithm === "string" ? algorithm : String((algorithm as { readonly name?: unknown } | undefined)?.name);

function signed(key: Key, data: unknown): string {
  const secret = secrets.get(key);
  if (secret === undefined) throw new TypeError("The key was not imported by crypto.subtle.importKey");
  return hmac(key.algorithm.hash.name, secret, binaryOf(data));
}

const subtle = {
  async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
    return fromBinary(digest(nameOf(algorithm), binaryOf(data))).buffer;
  },
  async importKey(
    form: string,
    data: unknown,
    algorithm: { readonly hash?: unknown },
    _extractable: boolean,
    usages: readonly string[],
  ) {
    if (form !== "raw" || nameOf(algorithm) !== "HMAC")
      throw new TypeError("Transforms can import raw keys for HMAC only");
    const key: Key = {
      type: "secret",
      algorithm: { name: "HMAC", hash: { name: nameOf(algorithm.hash) } },
      usages,
      extractable: false,
    };
    secrets.set(key, binaryOf(data));
    return key;
  },
  async sign(_algorithm: unknown, key: Key, data: unknown): Promise<ArrayBuffer> {
    return fromBinary(signed(key, data)).buffer;
  },
  async verify(_algorithm: unknown, key: Key, signature: unknown, data: unknown): Promise<boolean> {
    const [given, wanted] = [binaryOf(signature), signed(key, data)];
    return given.length === wanted.length && timingSafeEqual(fromBinary(given), fromBinary(wanted));
  },
};

export const webcrypto = { subtle, randomUUID, getRandomValues };

/** The functions under their names in Node's module. */
export const nodeCrypto = {
  createHash,
  createHmac,
  hash,
  timingSafeEqual,
  randomBytes,
  randomUUID,
  getRandomValues,
  webcrypto,
  subtle,
};
