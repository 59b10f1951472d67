/** Describes failures of model servers in one sentence without secrets. */
import { EngineError } from "service-gateway/sdk";
import { addressOf } from "./address.ts";
import { bodyMessage, detailsOf, statusIn } from "./answer/error-body.ts";
import { LeadsElsewhere } from "./answer/redirects.ts";
import { Unstreamed } from "./answer/unstreamed.ts";
import { shownUrl, type Target } from "./provider.ts";
import { isTooLong } from "./room/too-long.ts";
import { waitIn, waitOf } from "./waits.ts";

/**
 * The fields of the SDK's call error that are used. It is recognized by its shape, so that errors of a second copy of
 * the SDK are, too.
 */
interface CallError {
  readonly statusCode?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: string;
  readonly cause?: unknown;
  readonly message: string;
}

export interface Failure {
  readonly error: EngineError;
  /** The server did not respond at all. If another model is available, an immediate retry is pointless. */
  readonly unreachable: boolean;
  /** True if every other model of the provider would fail as well, such as for a wrong key. */
  readonly wholeProvider?: boolean;
  /** All that the server answer, for finding out what it refuses. Never shown: it may contain a secret. */
  readonly details?: string;
  /** Milliseconds that the server asked us to wait; `undefined` if it did not. */
  readonly waitMs?: number;
}

function isCallError(thrown: unknown): thrown is CallError {
  return thrown instanceof Error && thrown.name === "AI_APICallError";
}

/** How the keys of providers begin. */
const looksLikeKey = /\b(?:(?:sk|pk|key|xai|gsk|csk)-|(?:gsk|fw|tgp)_|AIza)[\w*.-]{4,}/gi;

/** Everything in a request that may be secret: the key, and what the headers and the address have. */
function secretsOf(target: Target): readonly string[] {
  const { apiKey = "", headers, queryParams } = addressOf(target);
  const password = decodeURIComponent(URL.parse(target.baseUrl)?.password ?? "");
  const sent = Object.values(headers).flatMap((value) => [value, value.split(" ").at(-1) ?? ""]);
  return [apiKey, password, ...sent, ...Object.values(queryParams)];
}

/**
 * Shortens a text to one line and removes the provider's secrets, because servers often repeat the key that they
 * reject.
 */
function clean(text: string, target: Target): string {
  let line = text
    .replace(/\s+/g, " ")
    .replace(/https?:\/\/[^\s"'<>]+/g, (url) => shownUrl(url))
    .trim();
  for (const secret of secretsOf(target)) if (secret.length >= 4) line = line.replaceAll(secret, "***");
  // A server may repeat only a part of the key, so everything that looks like one is removed.
  line = line.replace(looksLikeKey, "***").replace(/\.$/, "");
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}

function networkReason(thrown: unknown): string {
  for (let error: unknown = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    const { code } = error as { code?: unknown };
    if (code === "ECONNREFUSED") return "the connection was refused";
    if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "the name is not known";
    if (code === "ECONNRESET" || code === "UND_ERR_SOCKET") return "the connection was cut";
    if (code === "ETIMEDOUT" || code === "UND_ERR_CONNECT_TIMEOUT") return "the connection timed out";
    if (error.message === "unexpected redirect") return "it redirects to another address, and the key is not sent on";
    if (typeof code === "string" && /CERT|TLS|SSL/.test(code)) return `the certificate is not trusted (${code})`;
  }
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Some providers refuse a wrong key or an account without credit with the status of a malformed request. */
const saysKeyWrong = /\b(?:api[ _-]?key (?:is )?(?:not valid|invalid)|(?:invalid|incorrect) api[ _-]?key)/i;
const saysNoCredit =
  /\bcredit balance is too low|\binsufficient[ _-](?:account[ _-])?(?:balance|credits?|funds|quota)\b/i;

/** A rate limit is over soon, even if its message links to a page about billing. */
function saysQuota(details: string): boolean {
  return waitIn(details) === undefined && /quota|billing|credit/i.test(details.replace(/https?:\/\/\S+/g, ""));
}

/** The words are the reason: a content filter, a moderation or a policy. */
const saysContent =
  /content[ _-]?(?:filter|management|moderation|policy)|safety (?:system|polic|setting|reason)|usage polic|flagged|\bmoderation\b|prohibited[ _]content|violat\w*\b.{0,60}\bpolic|blocked\b.{0,40}\b(?:safety|polic|filter)|responsible ?ai/i;

function contextFull(detail: string): EngineError {
  return new EngineError("model_context_full", {
    detail,
    hint: "Send /compact, or choose a model with a larger context.",
  });
}

/** What to check if the credentials are refused: those that were sent. One header carries a key or a user, not both. */
function whichKey({ providerId, provider: { apiKey, keyVariable }, baseUrl }: Target): string {
  const settings = `models.providers.${providerId}`;
  if ((URL.parse(baseUrl)?.username ?? "") === "") {
    if (keyVariable === undefined)
      return `Check ${settings}.apiKey${apiKey === undefined ? ", which is not set" : ""}.`;
    if (apiKey === undefined) return `Set ${keyVariable} in the environment of the gateway, or ${settings}.apiKey.`;
    return `Check ${keyVariable} in the environment of the gateway, and restart it after a change.`;
  }
  if (apiKey === undefined) return `Check the user and the password in ${settings}.baseUrl.`;
  return `Remove the user from ${settings}.baseUrl: it is sent in place of apiKey.`;
}

/** Anthropic's status for too many requests of all its customers. */
const overloaded = 529;

function byStatus(status: number, details: string, target: Target): EngineError {
  const { providerId, modelId } = target;
  const at = `${providerId} at ${shownUrl(target.baseUrl)}`;
  const because = details === "" ? "" : `: ${details}`;
  const settings = `models.providers.${providerId}`;
  const isMalformed = status === 400 || status === 422;
  // A provider of many models reports the moderation of one of them by 403.
  if ((isMalformed || status === 403 || status === 451) && saysContent.test(details)) {
    const hint = "Write the message in other words, or choose another model.";
    return new EngineError("model_content_refused", {
      detail: `${at} refused the content of the request (${status})${because}`,
      hint,
    });
  }
  if (status === 401 || status === 403 || (isMalformed && saysKeyWrong.test(details))) {
    return new EngineError("model_unauthorized", {
      detail: `${at} rejects the key (${status})${because}`,
      hint: whichKey(target),
    });
  }
  if (status === 404) {
    return new EngineError("model_unknown", {
      detail: `${at} does not know the model ${modelId} (404)${because}`,
      hint: `Check the name of the model, and ${settings}.baseUrl, which usually ends in /v1.`,
    });
  }
  if (status === 429 || status === 402 || (isMalformed && saysNoCredit.test(details))) {
    return status !== 429 || saysQuota(details)
      ? new EngineError("model_quota", {
          detail: `${at} says that the quota is used up (${status})${because}`,
          hint: "Check the account there.",
        })
      : new EngineError("model_busy", {
          detail: `${at} limits the rate of requests (429)${because}`,
          hint: "Try again later.",
          retryable: true,
        });
  }
  if (status === 413 || isTooLong(details))
    return contextFull(`The conversation is too long for ${modelId} (${status})${because}`);
  if (status === overloaded) {
    const detail = `${at} is overloaded (${status})${because}`;
    return new EngineError("model_busy", { detail, hint: "Try again later.", retryable: true });
  }
  if (status >= 500 || status === 408) {
    return new EngineError("model_unavailable", {
      detail: `${at} failed (${status})${because}`,
      hint: "Try again later; the log of that server, or the status page of the provider, may say why.",
      retryable: true,
    });
  }
  return new EngineError("model_refused", {
    detail: `${at} refused the request (${status})${because}`,
    hint: `Check the model ${modelId} and ${settings}.`,
  });
}

/** Providers limit the use of single models by 429, and the access to them by 403. */
function concernsProvider(reason: string, status: number): boolean {
  return (reason === "model_unauthorized" && status !== 403) || (reason === "model_quota" && status !== 429);
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  const message = typeof thrown === "object" && thrown !== null ? (thrown as { message?: unknown }).message : thrown;
  return typeof message === "string" ? message : "no reason given";
}

/** The JSON that a server sent in place of chunks. It may have the reason for that. */
function bodyOf(thrown: unknown): string | undefined {
  if (thrown instanceof Unstreamed) return thrown.body;
  if (!(thrown instanceof Error) || thrown.name !== "AI_TypeValidationError") return undefined;
  return JSON.stringify((thrown as { value?: unknown }).value) ?? "null";
}

/** What to check if a server fails without a status. Some report an unknown path with status 200. */
function whereToLook(thrown: unknown, { providerId }: Target): string {
  if (!(thrown instanceof Unstreamed)) return "Check the log of that server.";
  return `Check models.providers.${providerId}.baseUrl, which usually ends in /v1, and the log of that server.`;
}

function garbled(thrown: unknown, target: Target): EngineError {
  const what =
    thrown instanceof Unstreamed ? "a JSON object instead of a stream" : "something that is not a chat completion";
  const detail = `${target.providerId} at ${shownUrl(target.baseUrl)} sent ${what}`;
  return new EngineError("model_garbled", {
    detail,
    hint: whereToLook(thrown, target),
    retryable: true,
    cause: thrown,
  });
}

function byServer(
  status: number,
  reason: string,
  {
    target,
    answer,
    waitMs,
  }: { readonly target: Target; readonly answer: unknown; readonly waitMs: number | undefined },
): Failure {
  const error = byStatus(status, reason, target);
  const wholeProvider = concernsProvider(error.reason, status);
  return {
    error,
    unreachable: false,
    wholeProvider,
    ...detailsOf(answer),
    ...(waitMs === undefined ? {} : { waitMs }),
  };
}

/** The operator decides whether another server may have the key. */
function elsewhere({ origin }: LeadsElsewhere, target: Target): EngineError {
  return new EngineError("model_provider_invalid", {
    detail: `${target.providerId} at ${shownUrl(target.baseUrl)} redirects to ${shownUrl(origin)}, which was not asked`,
    hint: `If you trust that server with the key, set models.providers.${target.providerId}.baseUrl to its address.`,
  });
}

/** Converts whatever a model call threw, or put into its stream, to an error that says what to do. */
export function explain(thrown: unknown, target: Target): Failure {
  const at = `${target.providerId} at ${shownUrl(target.baseUrl)}`;
  const fail = (reason: string, detail: string, hint: string) =>
    new EngineError(reason, { detail, hint, retryable: true, cause: thrown });
  if (thrown instanceof EngineError) return { error: thrown, unreachable: false };
  if (thrown instanceof LeadsElsewhere)
    return { error: elsewhere(thrown, target), unreachable: false, wholeProvider: true };
  // A redirect that leads in a circle is a refusal, too.
  if (isCallError(thrown) && thrown.statusCode !== undefined && thrown.statusCode >= 300) {
    const serverDetail = clean(bodyMessage(thrown.responseBody), target);
    const waitMs = waitOf(thrown.responseHeaders) ?? waitIn(serverDetail);
    return byServer(thrown.statusCode, serverDetail, { target, answer: thrown.responseBody, waitMs });
  }
  const name = thrown instanceof Error ? thrown.name : "";
  if (name === "AI_InvalidResponseDataError") {
    const hint =
      "Try again; if there is never a reply, check " +
      `models.providers.${target.providerId}.baseUrl, which usually ends in /v1.`;
    return { error: fail("model_cut_off", `${at} ended its reply early`, hint), unreachable: false };
  }
  if (name === "AI_JSONParseError") return { error: garbled(thrown, target), unreachable: false };
  const body = bodyOf(thrown);
  const serverDetail = clean(bodyMessage(body), target);
  if (body !== undefined && serverDetail === "") return { error: garbled(thrown, target), unreachable: false };
  if (name === "AI_APICallError" || thrown instanceof TypeError) {
    const reason = clean(networkReason(thrown), target);
    const hint = `Start that server, or correct models.providers.${target.providerId}.baseUrl.`;
    return {
      error: fail("model_unreachable", `${at} cannot be reached: ${reason}`, hint),
      unreachable: true,
      wholeProvider: true,
    };
  }
  // Some servers begin a stream before they look at the request, and send the error in it.
  const reason = serverDetail === "" ? clean(messageOf(thrown), target) : serverDetail;
  const answer = body ?? (thrown instanceof Error ? undefined : thrown);
  const status = statusIn(answer);
  if (status !== undefined) return byServer(status, reason, { target, answer, waitMs: waitIn(reason) });
  const error = isTooLong(reason)
    ? contextFull(`The conversation is too long for ${target.modelId}: ${reason}`)
    : fail("model_failed", `${at} failed: ${reason}`, whereToLook(thrown, target));
  return { error, unreachable: false, ...detailsOf(answer) };
}

/** Whether a model may have refused a call only because it cannot think, or not as much. */
export function refusesThinking({ reason, message }: EngineError): boolean {
  return reason === "model_refused" && /think|reasoning/i.test(message);
}

/**
 * Whether a model may have refused a call only because of its files. Servers report this in many ways, some even as a
 * server error.
 */
export function mayMeanFiles({ reason, message }: EngineError): boolean {
  if (reason === "model_refused") return true;
  return (
    /^model_un(?:available|known)$/.test(reason) &&
    /image|vision|audio|multi-?modal|mmproj|content (?:type|part)|file/i.test(message)
  );
}
