/**
 * Repeated deliveries: the key that identifies a request, and the digest that distinguishes a repetition from a
 * conflict.
 */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Headers that contain a delivery's id; the first one present applies. */
export const deliveryHeaders: readonly string[] = ["idempotency-key", "webhook-id", "x-github-delivery"];

/** The scope of a delivery's id: a holder of another token or secret cannot use up its keys. */
export interface DeliveryScope {
  readonly path: string;
  /** The token, or a value derived from the secrets of a signature. */
  readonly secret: () => string;
}

/**
 * The id that the sender gave the delivery, together with the name of its header: the same id in different headers
 * means different deliveries.
 */
export function namedDelivery(headers: IncomingHttpHeaders): string | undefined {
  for (const name of deliveryHeaders) {
    const value = headers[name];
    const key = typeof value === "string" ? value.trim() : "";
    if (key !== "") return `${name}: ${key}`;
  }
  return undefined;
}

/** A digest, because a sender's id may be any text of any length. */
export function deliveryKey(name: string, { path, secret }: DeliveryScope): string {
  return `hooks:${hash("sha256", JSON.stringify([path, hash("sha256", secret()), name]))}`;
}

/** A digest of the bytes as received, because a sender repeats a delivery byte for byte. */
export function bodyFingerprint(body: Buffer): string {
  return hash("sha256", body);
}
