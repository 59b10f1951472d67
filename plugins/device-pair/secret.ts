/** Codes that people type, secrets that programs store, and the digests stored here instead. */
import { createHash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";

/** Without characters that are easily confused: no I, O, 0, 1. */
const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

export function newCode(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}

/** Normalizes a typed code: ignores case, blanks and dashes. */
export function readCode(text: string): string {
  return text.replaceAll(/[\s-]/g, "").toUpperCase();
}

export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** The digest to store. A 256-bit secret needs neither a salt nor a slow digest. */
export function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Compares in constant time. */
export function isDigestOf(secret: string, digest: string): boolean {
  const presented = Buffer.from(digestOf(secret));
  const expected = Buffer.from(digest);
  return presented.length === expected.length && timingSafeEqual(presented, expected);
}
