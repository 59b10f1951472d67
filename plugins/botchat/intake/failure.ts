/** Why the account does not receive, as a code of the registry with what happened and what the operator can do. */
import { ChannelError, type ChannelStatus } from "service-gateway/sdk/channel";

export type Failure = Required<Pick<ChannelStatus, "code" | "detail">> & Pick<ChannelStatus, "hint">;

/** A 409 of the platform, which describes what is in the way. */
function conflictOf(description: string): Failure {
  return /webhook/i.test(description)
    ? { code: "webhook_in_the_way", detail: "a webhook is set for this bot, so it cannot be polled" }
    : { code: "conflict", detail: "another program polls with the same bot token" };
}

/**
 * A wrong token usually gets a 401. A 404 means that the address of the call is wrong, or the token is one of another
 * server.
 */
const botUnknown: Failure = {
  code: "unauthorized",
  detail: "the server at apiRoot does not know the bot (404)",
  hint:
    "Check apiRoot: it ends before /bot and the token. If it is correct, set botToken or tokenFile to " +
    "the current token from the bot maker.",
};

/** A failed call, or an update that could not be stored. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof ChannelError))
    return {
      code: "receive_failed",
      detail: "the event could not be stored; its update stays with the platform and is delivered again",
    };
  const { reason: code, message, retryAfterMs = 0 } = error;
  if (code === "conflict") return conflictOf(message);
  if (code === "unauthorized")
    return / 404 /.test(message) ? botUnknown : { code, detail: "the platform rejects the bot token" };
  if (code === "flood_wait")
    return {
      code,
      detail: `the platform asks to wait ${Math.ceil(retryAfterMs / 1_000)} s`,
      hint: "The gateway tries again by itself.",
    };
  return {
    code,
    detail: `the platform cannot be reached (${message})`,
    hint: "Check the network, the proxy and apiRoot. The gateway tries again by itself.",
  };
}

/** The webhook could not be set. */
export function registrationFailure(error: unknown): Failure {
  if (!(error instanceof ChannelError) || error.reason !== "bad_request") return failureOf(error);
  return { code: "webhook_refused", detail: `the platform rejects the webhook (${error.message})` };
}

/** The platform has another webhook than the account's, or none. */
export function lostWebhook(set: string): Failure {
  const what = set === "" ? "removed the webhook of this bot" : "set another webhook for this bot";
  return { code: "webhook_replaced", detail: `another program ${what}` };
}
