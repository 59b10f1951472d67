/** Finds tokens in requests and compares them. */
import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { product } from "../contract/index.ts";

const bearer = /^bearer\s/i;

/** The presented token: a non-empty Bearer token, else the product's own header. */
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
 * Both are copied into zeroed buffers of equal length, a multiple of 64 bytes, and compared in constant time. Then the
 * lengths are compared. Comparing digests would be equally safe but ten times slower, on the busiest path of the
 * program. Presented tokens are never cached, because the speed of a cache look-up would depend on the secret.
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
    // This does not compare client data. It only detects that the configuration changed.
    if (secret !== current) adopt(secret);
    scratch.fill(0);
    // Each character of a header is one byte, so this restores the bytes that were sent.
    scratch.write(presented, 0, scratch.length, "latin1");
    return timingSafeEqual(scratch, expected) && presented.length === length;
  };
}

/** Compares bytes in constant time. The length may leak, because the length of a digest is not secret. */
export function isSameDigest(presented: Buffer, expected: Buffer): boolean {
  return presented.length === expected.length && timingSafeEqual(presented, expected);
}
