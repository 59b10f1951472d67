/** Answers the requests by which a platform checks that the receiver knows the secret, before it sends events. */
import type { IncomingHttpHeaders } from "node:http";
import { HttpProblem, parseExactJson, parseJson } from "../../http/index.ts";
import type { SignatureScheme } from "./schemes.ts";

export interface ChallengeAnswer {
  readonly status: 200 | 204;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A URL of the platform that must be requested to confirm. */
  readonly confirm?: string;
}

/** Returns the sender's own text as plain text. */
export function echo(text: unknown): ChallengeAnswer | undefined {
  return isToken(text) ? { status: 200, contentType: "text/plain; charset=utf-8", body: text } : undefined;
}

const longest = 1_000;

/**
 * Answers a challenge. Only for verified requests: answering anyone would reflect content and sign arbitrary digests.
 */
export function answerChallenge(
  kind: NonNullable<SignatureScheme["challenge"]>,
  { body, headers }: { readonly body: Buffer; readonly headers: IncomingHttpHeaders },
  digest: (text: string) => string,
): ChallengeAnswer | undefined {
  if (kind === "github-ping") return headers["x-github-event"] === "ping" ? json({ ok: true, pong: true }) : undefined;
  if (kind === "sns") return answerSns(body, headers);
  if (kind === "echo") {
    const text = readMember(body, ["type"]) === "url_verification" ? readMember(body, ["challenge"]) : undefined;
    return echo(text);
  }
  if (kind === "digest") {
    const text =
      readMember(body, ["event"]) === "endpoint.url_validation"
        ? readMember(body, ["payload", "plainToken"])
        : undefined;
    return isToken(text) ? json({ plainToken: text, encryptedToken: digest(text) }) : undefined;
  }
  const type = readMember(body, ["type"]);
  if (type === 0) return { status: 204, contentType: "application/json", body: "" };
  // An event has the same number, but it also says what happened.
  return type === 1 && readMember(body, ["event"]) === undefined ? json({ type: 1 }) : undefined;
}

const snsHost = /^sns\.[a-z0-9-]{3,32}\.amazonaws\.com(?:\.cn)?$/;

/**
 * Answers a subscription of SNS. The URL in the body is requested only if it belongs to the platform and confirms the
 * topic in the body.
 */
function answerSns(body: Buffer, headers: IncomingHttpHeaders): ChallengeAnswer | undefined {
  const type = headers["x-amz-sns-message-type"];
  if (type === "UnsubscribeConfirmation") return json({ ok: true });
  if (type !== "SubscriptionConfirmation") return undefined;
  const address = readMember(body, ["SubscribeURL"]);
  const topic = readMember(body, ["TopicArn"]);
  const url = typeof address === "string" ? URL.parse(address) : null;
  const isOwn =
    url !== null &&
    url.protocol === "https:" &&
    url.port === "" &&
    url.username === "" &&
    url.password === "" &&
    snsHost.test(url.hostname) &&
    url.pathname === "/" &&
    url.searchParams.get("Action") === "ConfirmSubscription" &&
    url.searchParams.get("TopicArn") === topic;
  if (!isOwn)
    throw new HttpProblem("invalid_payload", "SubscribeURL is not an address of Amazon SNS that confirms TopicArn.");
  return { ...json({ ok: true }), confirm: url.href };
}

/** A member of a JSON body; `undefined` if it is missing or the body is not JSON. */
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

/** Whether a text may be echoed: not too long, and in one line. */
export function isToken(text: unknown): text is string {
  return typeof text === "string" && text.length > 0 && text.length <= longest && !/\p{Cc}/u.test(text);
}

function json(value: object): ChallengeAnswer {
  return { status: 200, contentType: "application/json; charset=utf-8", body: JSON.stringify(value) };
}
