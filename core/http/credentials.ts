/** Tokens in requests: where they stand, and how they are compared. */
import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { product } from "../contract/index.ts";

const bearer = /^bearer\s/i;

/** The presented token: a Bearer that is present and not empty is the one judged, else the product's own header. */
export function presentedToken(headers: IncomingHttpHeaders): string | undefined {
  const authorization = headers.authorization;
  if (authorization !== undefined) {
    const scheme = authorization.trimStart();
    if (bearer.test(scheme)) {
      const token = scheme.slice(7).trim();
      if (token !== "") return token;
    }
  }
  const own = headers[product.tokenHeader];
  if (typeof own !== "string") return undefined;
  const token = own.trim();
  return token === "" ? undefined : token;
}

/**
 * Compares presented tokens with a secret that may change at any time.
 *
 * Both are laid into zeroed buffers of one length, a multiple of 64 bytes, and compared in constant time; the two
 * lengths are compared as well, after that. A digest of the presented token would do the same for ten times the
 * price, on the busiest path of the program. No presented token is remembered, because a look-up of it would
 * answer at a speed that depends on the secret.
 */
export function createTokenCheck(): (presented: string | undefined, secret: string | undefined) => boolean {
  let current: string | undefined;
  let expected = Buffer.alloc(0);
  let length = 0;
  let scratch = Buffer.alloc(0);
  const adopt = (secret: string): void => {
    current = secret;
    length = Buffer.byteLength(secret);
    expected = Buffer.alloc(Math.max(1, Math.ceil(length / 64)) * 64);
    expected.write(secret);
    scratch = Buffer.alloc(expected.length);
  };
  return (presented, secret) => {
    if (presented === undefined || secret === undefined || secret === "") return false;
    // Not a comparison with anything a client sent: it only notices that the configuration changed.
    if (secret !== current) adopt(secret);
    scratch.fill(0);
    // Header text holds one byte in each character, so this restores the bytes that were sent.
    scratch.write(presented, 0, scratch.length, "latin1");
    return timingSafeEqual(scratch, expected) && presented.length === length;
  };
}

/** Compares bytes in constant time. The length may be observed: that of a digest is not a secret. */
export function isSameDigest(presented: Buffer, expected: Buffer): boolean {
  return presented.length === expected.length && timingSafeEqual(presented, expected);
}
