/**
 * The public keys that a sender publishes at an address, as a JSON Web Key Set (RFC 7517). They are read when the first
 * token arrives, again each hour, and when a token names a key that is not among them.
 */
import { createPublicKey, type KeyObject, type webcrypto } from "node:crypto";
import { reasonOf } from "../../contract/index.ts";
import { fetchWhole } from "../../sdk/reading.ts";
import type { PublicKeyAlgorithm } from "./schemes.ts";
import { createPublicSigningKey, publicKeyFault, type SigningKey } from "./signing-key.ts";

/** The keys cannot be read, so no token can be verified. The message is for the operator. */
export class KeysUnavailable extends Error {}

export interface KeySet {
  /** The keys that may have signed a token. `keyId` is the one that the token names. */
  keysFor(keyId: string | undefined): readonly SigningKey[];
  /**
   * Reads the keys if those for this token are missing or too old. Rejects with `KeysUnavailable` if there are none to
   * use.
   */
  refresh(keyId: string | undefined, now: number): Promise<void>;
}

const freshMs = 3_600_000;
/** Keys that cannot be read again remain valid for this time: an outage of the address must not stop the webhooks. */
const usableMs = 24 * 3_600_000;
/** Anyone can send a token with an unknown key. Each of them must not cause a request. */
const pauseMs = 60_000;
const mostKeys = 32;
const limits = { maxBytes: 262_144, timeoutMs: 10_000 } as const;
/** Each request that waits for the keys has its body in memory. */
const mostWaiting = 20;

interface PublishedKey {
  readonly id: string | undefined;
  readonly key: SigningKey;
}

export function createKeySet(url: string, algorithm: PublicKeyAlgorithm): KeySet {
  let keys: readonly PublishedKey[] = [];
  let readAt: number | undefined;
  let triedAt: number | undefined;
  let reading: Promise<void> | undefined;
  let waiting = 0;

  const keysFor = (keyId: string | undefined): readonly SigningKey[] =>
    keys.flatMap(({ id, key }) => (keyId === undefined || id === keyId || id === undefined ? [key] : []));
  /** The clock may have been set back, which must not make a key valid for longer. */
  const isYounger = (at: number | undefined, now: number, ms: number): boolean =>
    at !== undefined && now >= at && now - at < ms;

  async function readAgain(now: number): Promise<void> {
    try {
      keys = await readKeys(url, algorithm);
      readAt = now;
    } catch (error) {
      if (!isYounger(readAt, now, usableMs)) keys = [];
      if (keys.length === 0) throw new KeysUnavailable(reasonOf(error));
    }
  }

  /** One request for all that wait. */
  function startReading(now: number): Promise<void> {
    triedAt = now;
    const started = readAgain(now).finally(() => {
      reading = undefined;
    });
    reading = started;
    return started;
  }

  return {
    keysFor,
    async refresh(keyId, now) {
      if (isYounger(readAt, now, freshMs) && keysFor(keyId).length > 0) return;
      if (reading === undefined && isYounger(triedAt, now, pauseMs)) {
        if (keys.length > 0) return;
        throw new KeysUnavailable("they could not be read within the last minute");
      }
      if (waiting >= mostWaiting) throw new KeysUnavailable("too many requests wait for them");
      waiting += 1;
      try {
        await (reading ?? startReading(now));
      } finally {
        waiting -= 1;
      }
    },
  };
}

async function readKeys(url: string, algorithm: PublicKeyAlgorithm): Promise<readonly PublishedKey[]> {
  const { ok, status, text } = await fetchWhole(url, { headers: { accept: "application/json" }, ...limits });
  if (!ok) throw new Error(`the address answers with ${status}`);
  return parseKeySet(text, algorithm);
}

/** Throws an `Error` if no key of the set can verify the algorithm. */
function parseKeySet(text: string, algorithm: PublicKeyAlgorithm): readonly PublishedKey[] {
  let set: unknown;
  try {
    set = JSON.parse(text);
  } catch {
    throw new Error("the address does not return JSON");
  }
  const all = typeof set === "object" && set !== null ? (set as { readonly keys?: unknown }).keys : undefined;
  if (!Array.isArray(all)) throw new Error("the address does not return a list of keys");
  const usable = all.slice(0, mostKeys).flatMap((one: unknown) => publishedKey(one, algorithm) ?? []);
  if (usable.length === 0) throw new Error("the address returns no key for the algorithm of the configuration");
  return usable;
}

const tokenNames: Readonly<Partial<Record<PublicKeyAlgorithm, string>>> = {
  "rsa-sha256": "RS256",
  es256: "ES256",
};

/** `undefined` for a key of another kind or purpose: a set often contains keys for several algorithms. */
function publishedKey(one: unknown, algorithm: PublicKeyAlgorithm): PublishedKey | undefined {
  if (typeof one !== "object" || one === null) return undefined;
  const { kid, use, alg } = one as Readonly<Record<string, unknown>>;
  if (use !== undefined && use !== "sig") return undefined;
  if (alg !== undefined && alg !== tokenNames[algorithm]) return undefined;
  let key: KeyObject;
  try {
    key = createPublicKey({ key: one as webcrypto.JsonWebKey, format: "jwk" });
  } catch {
    return undefined;
  }
  if (publicKeyFault(key, algorithm) !== undefined) return undefined;
  return { id: typeof kid === "string" ? kid : undefined, key: createPublicSigningKey(key, "", algorithm) };
}
