/** The result of checking a signature or another credential of a request. */
import type { IncomingHttpHeaders } from "node:http";

export interface SignedRequest {
  readonly headers: IncomingHttpHeaders;
  /** The raw body. */
  readonly body: Buffer;
  /** Path and query as sent. */
  readonly url: string;
  /** Absent: POST. */
  readonly method?: string;
  readonly now: number;
}

/**
 * `deliveryId` is the complete identity of a signed delivery. No other header is consulted, because most are not
 * signed. A digest of the body is not compared in addition, because some senders change other fields in a retry. It is
 * absent if equal deliveries are separate events. `signer` identifies the matching secret; of several, the oldest. It
 * thus stays the same while another secret is added, so that a repetition during a rotation is recognized. `fault` and
 * `reason` are for the operator.
 */
export type Verdict =
  | { readonly ok: true; readonly signer: string; readonly deliveryId?: string }
  | {
      readonly ok: false;
      readonly fault: SignatureFault;
      readonly reason: string;
      /** What to change, if it is not what the fault suggests, and the setting for it. */
      readonly hint?: string;
      readonly setting?: "secret" | "verifyToken" | "timestampFormat" | "algorithm" | "bodyClaim" | "toleranceSeconds";
    };

/** `old`: its time is too far from now, in either direction. */
export type SignatureFault = "missing" | "wrong" | "old";

export type Unverified = Extract<Verdict, { readonly ok: false }>;
