/** Events that Slack posts to the gateway's port: signed, repeated until they are confirmed. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { ChannelAccount, ChannelRequest, RouteAnswer } from "service-gateway/sdk/channel";
import { type Fields, record, text } from "../fields.ts";

/** Of the request, for a replayed one is as old as its signature. */
const maxAgeSeconds = 300;

export type PostedKind = "events_api" | "interactive" | "slash_commands";

/** What a request says, before it is known who sent it. */
export function readPosted(body: Buffer): { readonly kind: PostedKind; readonly payload: Fields } | undefined {
  const whole = body.toString("utf8");
  if (whole.startsWith("{")) {
    const payload = parsed(whole);
    return payload && { kind: "events_api", payload };
  }
  const form = Object.fromEntries(new URLSearchParams(whole));
  if (form.command !== undefined) return { kind: "slash_commands", payload: form };
  const payload = parsed(form.payload ?? "");
  return payload && { kind: "interactive", payload };
}

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
function wrongSignature(
  { headers, body }: Pick<ChannelRequest, "headers" | "body">,
  secret: string,
  now: number,
): string | undefined {
  const time = headers["x-slack-request-timestamp"] ?? "";
  const right = Buffer.from(`v0=${createHmac("sha256", secret).update(`v0:${time}:`).update(body).digest("hex")}`);
  const given = Buffer.from(headers["x-slack-signature"] ?? "");
  if (given.length !== right.length || !timingSafeEqual(given, right)) return "the signature is wrong";
  const age = Math.abs(now / 1_000 - Number(time));
  return /^\d{1,12}$/.test(time) && age <= maxAgeSeconds ? undefined : "the request is older than five minutes";
}

/** How often the log reports requests that are not from Slack. */
const warnEveryMs = 60_000;

/** Answers what Slack posts. `take` resolves when the event is stored; its rejection makes Slack post it again. */
export function createPosted(
  { now, log }: Pick<ChannelAccount, "now" | "log">,
  { signingSecret, take }: { signingSecret: string; take(kind: PostedKind, payload: Fields): Promise<void> },
): (request: ChannelRequest) => RouteAnswer | Promise<RouteAnswer> {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return ({ headers, body, judge, clientAddress }) => {
    const wrong = wrongSignature({ headers, body }, signingSecret, now());
    const refused = judge(() => wrong === undefined);
    if (refused !== undefined) {
      if (now() - warnedAt >= warnEveryMs)
        log.warn({ clientAddress, reason: wrong }, "a request to the address of this account is not from Slack");
      warnedAt = now();
      return refused;
    }
    const posted = readPosted(body);
    if (posted === undefined) return { status: 400 };
    const { kind, payload } = posted;
    if (kind === "events_api" && payload.type === "url_verification")
      return { status: 200, type: "text/plain", body: text(payload.challenge) ?? "" };
    return take(kind, payload).then(() => ({ status: 200 }));
  };
}

function parsed(body: string): Fields | undefined {
  try {
    return record(JSON.parse(body));
  } catch {
    return undefined;
  }
}
