/** Codes that people type, secrets that programs keep, and what is stored in their place. */
import { createHash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";

/** Nothing that is read for something else: no I, O, 0, 1. */
const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

export function newCode(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}

/** A code as it was typed: in any case, with blanks and dashes. */
export function readCode(text: string): string {
  return text.replaceAll(/[\s-]/g, "").toUpperCase();
}

export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** What is stored: a secret of 256 bits needs no salt and no slow digest. */
export function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** In constant time. */
export function isDigestOf(secret: string, digest: string): boolean {
  const presented = Buffer.from(digestOf(secret));
  const expected = Buffer.from(digest);
  return presented.length === expected.length && timingSafeEqual(presented, expected);
}
