/**
 * Answers a platform's test of a URL before the platform has anything to sign. Without a signature, the only answer is
 * an echo as plain text: it creates no event and no request.
 */
import { createTokenCheck } from "../../http/index.ts";
import { type ChallengeAnswer, echo } from "./challenge.ts";
import type { SignatureScheme } from "./schemes.ts";
import type { Unverified } from "./verdict.ts";

/** Answers a test; `undefined` if the request is not one. */
export type Greet = (request: {
  readonly method: string;
  readonly query: string;
}) => ChallengeAnswer | Unverified | undefined;

export function createGreeting(kind: NonNullable<SignatureScheme["greeting"]>, verifyToken: string | undefined): Greet {
  const isVerifyToken = createTokenCheck();
  return ({ method, query }) => {
    if (query === "" || method !== (kind === "validation-token" ? "POST" : "GET")) return undefined;
    const parameters = new URLSearchParams(query);
    if (kind === "validation-token") return echo(parameters.get("validationToken"));
    if (kind === "challenge") return echo(parameters.get("challenge"));
    if (parameters.get("hub.mode") !== "subscribe" || verifyToken === undefined) return undefined;
    const token = parameters.get("hub.verify_token");
    if (token === null) return { ok: false, fault: "missing", reason: "hub.verify_token is missing" };
    // Tokens are compared as bytes, with one character for each byte.
    if (!isVerifyToken(Buffer.from(token, "utf8").toString("latin1"), verifyToken))
      return { ok: false, fault: "wrong", reason: "hub.verify_token is not the verifyToken of the mapping" };
    return echo(parameters.get("hub.challenge"));
  };
}
