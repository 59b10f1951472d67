/** What user code may import beside its own files: the packages' end of the wall. */
import * as crypto from "node:crypto";
import { product } from "../product.ts";

/** Native modules without a way to files, processes, the network or the runtime's insides. */
const harmless: readonly string[] = [
  "assert",
  "assert/strict",
  "buffer",
  "events",
  "path",
  "path/posix",
  "path/win32",
  "punycode",
  "querystring",
];
const alsoHarmless: readonly string[] = ["string_decoder", "timers", "timers/promises", "url", "util", "util/types"];

export const nativeModules: Readonly<Record<string, true>> = Object.assign(
  Object.create(null) as Record<string, true>,
  Object.fromEntries([...harmless, ...alsoHarmless].map((name) => [name, true])),
);

/** The door's name, in the sandbox. */
const door = `${product.packageName}/sdk`;

type Hashing = ReturnType<typeof crypto.createHash> | ReturnType<typeof crypto.createHmac>;

/** Hashes are streams in Node, and streams lead to emitters that the runtime itself uses: here they only hash. */
function plain(hash: Hashing): object {
  const wrapped = {
    update(data: string | Uint8Array, encoding?: "utf8" | "hex" | "base64" | "base64url") {
      if (typeof data === "string" && encoding !== undefined) hash.update(data, encoding);
      else hash.update(data);
      return wrapped;
    },
    digest: (encoding?: "hex" | "base64" | "base64url") => (encoding === undefined ? hash.digest() : hash.digest(encoding)),
  };
  return wrapped;
}

/** Modules that exist only here. A synthetic `node:crypto` has what a payload asks for: digests, ids, comparison. */
export const syntheticModules: Readonly<Record<string, Readonly<Record<string, unknown>>>> = Object.assign(
  Object.create(null) as Record<string, Readonly<Record<string, unknown>>>,
  {
    [door]: { defineTransform: (transform: unknown) => transform },
    crypto: {
      createHash: (algorithm: string) => plain(crypto.createHash(algorithm)),
      createHmac: (algorithm: string, key: string | Uint8Array) => plain(crypto.createHmac(algorithm, key)),
      hash: crypto.hash,
      randomBytes: (size: number) => crypto.randomBytes(size),
      randomInt: (min: number, max?: number) => (max === undefined ? crypto.randomInt(min) : crypto.randomInt(min, max)),
      randomUUID: () => crypto.randomUUID(),
      randomFillSync: (target: Uint8Array) => crypto.randomFillSync(target),
      getRandomValues: (target: Uint8Array<ArrayBuffer>) => crypto.webcrypto.getRandomValues(target),
      timingSafeEqual: crypto.timingSafeEqual,
      webcrypto: crypto.webcrypto,
      subtle: crypto.webcrypto.subtle,
    },
  },
);
