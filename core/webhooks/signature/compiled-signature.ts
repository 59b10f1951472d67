/** The signature of a mapping, compiled: what verifies its requests. */
import type { IncomingHttpHeaders } from "node:http";
import type { ChallengeAnswer } from "./challenge.ts";
import type { Greet } from "./greeting.ts";
import type { Sign } from "./signing.ts";
import type { SignedRequest, Verdict } from "./verdict.ts";

export interface Signature {
  /** Headers that code behind the check must not see. */
  readonly secretHeaders: readonly string[];
  /** The parameter of the query that contains the secret. Code behind the check must not see it. */
  readonly secretParameter?: string;
  /** The names that stand for its secrets in verdicts. */
  readonly signers: readonly string[];
  /** Verifies a request. Never throws. */
  verify(request: SignedRequest): Verdict;
  /**
   * Reads the sender's public keys, if `verify` needs keys that are not there yet. Rejects with `KeysUnavailable`.
   * `undefined`: there is nothing to wait for.
   */
  readKeys?(request: Pick<SignedRequest, "headers" | "now">): Promise<void>;
  /** Creates what the platform would send, for an operator who tests the mapping. */
  readonly sign: Sign;
  /** Answers a platform's test of this URL. Call it only with a verified body. */
  challenge?(body: Buffer, headers?: IncomingHttpHeaders): ChallengeAnswer | undefined;
  /**
   * Answers a test of this URL without a signature, at most with an echo. `undefined` if the request is not such a
   * test.
   */
  greet?: Greet;
  /** `verify` needs only the headers, so it can be called before the body is read. */
  readonly headersOnly?: true;
  /** Nothing is signed, so a delivery is identified by its headers, as with the hook token. */
  readonly namedByHeaders?: true;
  /** The HTTP authentication scheme that it implements. */
  readonly authenticates?: "Basic" | "Bearer";
  /** There is no secret yet: everything is refused, and the test of the platform will say the secret. */
  readonly awaitsSecret?: true;
  /** The sender sends the secret itself instead of a signature. */
  readonly isShared?: true;
  /**
   * `declared`: a form if Content-Type says so, else JSON, whatever the mapping's `body` says. `text-json`: JSON that
   * is declared as text.
   */
  readonly bodyKind?: "declared" | "text-json";
}

/** An error in the settings: `key` below `signature`, and a message without path and full stop. */
export class SignatureError extends Error {
  readonly key: string;
  constructor(key: string, message: string) {
    super(message);
    this.key = key;
  }
}
