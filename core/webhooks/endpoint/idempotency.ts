/** Repeated deliveries: the key under which a request is known, and the digest that distinguishes a repetition from a conflict. */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Headers that name a delivery; the first one present counts. */
export const deliveryHeaders: readonly string[] = ["idempotency-key", "webhook-id", "x-github-delivery"];

/** The scope of a delivery's name: a holder of another token or secret cannot use up its keys. */
export interface DeliveryScope {
  readonly path: string;
  /** The token, or what stands for the secrets of a signature. */
  readonly secret: () => string;
}

/** The name that the sender gave its delivery, with the header that says it: what another header calls by the same name is another one. */
export function namedDelivery(headers: IncomingHttpHeaders): string | undefined {
  for (const name of deliveryHeaders) {
    const value = headers[name];
    const key = typeof value === "string" ? value.trim() : "";
    if (key !== "") return `${name}: ${key}`;
  }
  return undefined;
}

/** A digest, because a sender may call its delivery anything, of any length. */
export function deliveryKey(name: string, { path, secret }: DeliveryScope): string {
  return `hooks:${hash("sha256", JSON.stringify([path, hash("sha256", secret()), name]))}`;
}

/** Of the bytes as they came: a sender repeats a delivery byte for byte. */
export function bodyFingerprint(body: Buffer): string {
  return hash("sha256", body);
}
