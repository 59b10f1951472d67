/** Signed paths: whose signature fits, so that only their mappings are asked. */
import type { IncomingMessage } from "node:http";
import { HttpProblem } from "../http/problem.ts";
import type { ChallengeAnswer } from "./challenge.ts";
import type { SignedBy, Way } from "./mapping.ts";

export const signatureInvalid = new HttpProblem("signature_invalid", "The signature is missing, wrong or too old.");
export const tooManyBodies = new HttpProblem(
  "rate_limited",
  "The body came too slowly while too many others were on their way; send it again.",
  {
    "retry-after": "1",
  },
);

export interface Verified {
  readonly signedBy: SignedBy;
  /** Stands for the secret: who knows one cannot take a delivery's name from who knows another. Never shown. */
  readonly signer: string;
  readonly deliveryId?: string;
  /** The platform only asks whether somebody who knows the secret is here. */
  readonly challenge?: ChallengeAnswer;
}

/** The first that fits; otherwise why the first one does not, for the operator. */
export function verifySigned(
  { signatures }: Way,
  { raw, body, now }: { readonly raw: IncomingMessage; readonly body: Buffer; readonly now: number },
): Verified | string {
  const request = { headers: raw.headers, body, url: raw.url ?? "", now };
  let why: string | undefined;
  for (const signedBy of signatures) {
    const { signature } = signedBy;
    const verdict = signature.verify(request);
    if (verdict.ok) {
      const challenge = signature.challenge?.(body);
      return {
        signedBy,
        signer: verdict.signer,
        ...(verdict.deliveryId === undefined ? {} : { deliveryId: verdict.deliveryId }),
        ...(challenge === undefined ? {} : { challenge }),
      };
    }
    why ??= verdict.reason;
  }
  return why ?? "no signature is configured";
}
