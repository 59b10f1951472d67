/** Signed paths: whose signature fits, so that only their mappings are asked. */
import type { IncomingMessage } from "node:http";
import { HttpProblem } from "../../http/index.ts";
import type { SignedBy, Way } from "../mapping/mapping.ts";
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
  /** Stands for the secret: who knows one cannot take a delivery's name from who knows another. Never shown. */
  readonly signer: string;
  readonly deliveryId?: string;
}

/** The first that fits; otherwise why the first one that is there does not, for the operator. */
export function verifySigned(
  { signatures }: Way,
  { raw, body, now }: { readonly raw: IncomingMessage; readonly body: Buffer; readonly now: number },
): Verified | Unverified {
  const request = { headers: raw.headers, body, url: raw.url ?? "", now };
  let why: Unverified | undefined;
  for (const signedBy of signatures) {
    const { signature } = signedBy;
    const verdict = signature.verify(request);
    if (verdict.ok) {
      return {
        signedBy,
        signer: verdict.signer,
        ...(verdict.deliveryId === undefined ? {} : { deliveryId: verdict.deliveryId }),
      };
    }
    if (why === undefined || why.fault === "missing") why = verdict;
  }
  return why ?? { ok: false, fault: "missing", reason: "no signature is configured" };
}
