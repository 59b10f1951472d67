/** Signed paths: finds the valid signature, so that only its mappings are considered. */
import type { IncomingMessage } from "node:http";
import { HttpProblem } from "../../http/index.ts";
import type { SignedBy, Way } from "../mapping/compiled-mapping.ts";
import type { Unverified } from "../signature/verdict.ts";

export const tooManyBodies = new HttpProblem(
  "rate_limited",
  "The body arrived too slowly while too many others were being received; send it again.",
  {
    "retry-after": "1",
  },
);

export interface Verified {
  readonly signedBy: SignedBy;
  /** Represents the secret: a sender who knows one secret cannot use the delivery ids of another. Never shown. */
  readonly signer: string;
  readonly deliveryId?: string;
}

/** A body as it was sent, and as it is read: unpacked, if it was compressed. */
export interface ReceivedBody {
  readonly sent: Buffer;
  readonly content: Buffer;
}

/**
 * Verifies a compressed body in both forms: most senders sign before they compress, some after. Both have the same
 * meaning, and both need the secret.
 */
export function verifyBody(
  way: Way,
  { raw, body, now }: { readonly raw: IncomingMessage; readonly body: ReceivedBody; readonly now: number },
) {
  const verified = verifySigned(way, { raw, body: body.content, now });
  if (!("ok" in verified) || body.sent === body.content) return verified;
  const asSent = verifySigned(way, { raw, body: body.sent, now });
  return "ok" in asSent ? verified : asSent;
}

/** The first valid signature; otherwise why the first one present is invalid, for the operator. */
export function verifySigned(
  { signatures }: Way,
  { raw, body, now }: { readonly raw: IncomingMessage; readonly body: Buffer; readonly now: number },
): Verified | Unverified {
  const request = { headers: raw.headers, body, url: raw.url ?? "", method: raw.method ?? "POST", now };
  let why: Unverified | undefined;
  for (const signedBy of signatures) {
    const { signature } = signedBy;
    const verdict = signature.verify(request);
    if (verdict.ok) {
      return {
        signedBy,
        signer: verdict.signer,
        deliveryId: verdict.deliveryId,
      };
    }
    if (why === undefined || why.fault === "missing") why = verdict;
  }
  return why ?? { ok: false, fault: "missing", reason: "no signature is configured" };
}
