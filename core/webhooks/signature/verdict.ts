/** What a signature or another credential of a request turned out to be. */
import type { IncomingHttpHeaders } from "node:http";

export interface SignedRequest {
  readonly headers: IncomingHttpHeaders;
  /** As it came over the wire. */
  readonly body: Buffer;
  /** Path and query, as they were sent. */
  readonly url: string;
  readonly now: number;
}

/**
 * `deliveryId` is the whole identity of a signed delivery: no other header of the request is asked for one, because
 * most are not signed, and beside a signed id no digest of the body is compared, because some senders change other
 * fields at a retry. It is absent where equal deliveries are separate events. `signer` stands for the secret
 * that fits, of several the oldest: it is the same before, while and after another one is added, so that a repetition
 * across a change of secrets is still one. `fault` and `reason` are for the operator.
 */
export type Verdict =
  | { readonly ok: true; readonly signer: string; readonly deliveryId?: string }
  | { readonly ok: false; readonly fault: SignatureFault; readonly reason: string };

/** `old`: its time is too far from now, in either direction. */
export type SignatureFault = "missing" | "wrong" | "old";

export type Unverified = Extract<Verdict, { readonly ok: false }>;
