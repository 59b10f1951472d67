/** Requests by which a platform asks, before it sends events, whether somebody who knows the secret is here. */
import { parseExactJson } from "../http/exact-json.ts";
import { parseJson } from "../http/json.ts";
import type { SignatureScheme } from "./schemes.ts";

export interface ChallengeAnswer {
  readonly status: 200 | 204;
  readonly contentType: string;
  readonly body: string;
}

const longest = 1_000;

/** Only for requests whose signature was verified: an answer to anybody would be a mirror, and an oracle for digests. */
export function answerChallenge(
  kind: NonNullable<SignatureScheme["challenge"]>,
  body: Buffer,
  digest: (text: string) => string,
): ChallengeAnswer | undefined {
  if (kind === "echo") {
    const text = readMember(body, ["type"]) === "url_verification" ? readMember(body, ["challenge"]) : undefined;
    return isToken(text) ? { status: 200, contentType: "text/plain; charset=utf-8", body: text } : undefined;
  }
  if (kind === "digest") {
    const text = readMember(body, ["event"]) === "endpoint.url_validation" ? readMember(body, ["payload", "plainToken"]) : undefined;
    return isToken(text) ? json({ plainToken: text, encryptedToken: digest(text) }) : undefined;
  }
  const type = readMember(body, ["type"]);
  if (type === 0) return { status: 204, contentType: "application/json", body: "" };
  // An event has the same number, and says what happened.
  return type === 1 && readMember(body, ["event"]) === undefined ? json({ type: 1 }) : undefined;
}

/** A member of a JSON body; `undefined` when there is none, or the body is no JSON. */
export function readMember(body: Buffer, path: readonly string[]): unknown {
  let value: unknown;
  try {
    value = parseJson(body, parseExactJson);
  } catch {
    return undefined;
  }
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

function isToken(text: unknown): text is string {
  return typeof text === "string" && text.length > 0 && text.length <= longest && !/\p{Cc}/u.test(text);
}

function json(value: object): ChallengeAnswer {
  return { status: 200, contentType: "application/json; charset=utf-8", body: JSON.stringify(value) };
}
