/** Converts every failure of a call to a `ChannelError`. No error is passed on unchanged. */
import { ChannelError } from "service-gateway/sdk/channel";
import { codes } from "../codes.ts";
import type { WireError } from "./wire.ts";

/** The platform's answer when it refuses a call. */
export interface Refused {
  readonly error_code: number;
  readonly description: string;
  readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
}

/** Reason codes by the text of the description, because the platform has no codes of its own. The first match wins. */
const badRequests: readonly (readonly [RegExp, string])[] = [
  [/can't parse entities|can't find end of/i, "parse_entities"],
  [/message is not modified/i, "message_not_modified"],
  [/there is no text in the message to edit/i, "no_text"],
  [/message is too long|caption is too long|MESSAGE_TOO_LONG/i, "too_long"],
  [/message thread not found|TOPIC_DELETED|TOPIC_CLOSED|TOPIC_ID_INVALID/i, "thread_gone"],
  [
    /message to be replied not found|replied message not found|reply message not found|message to reply not found|REPLY_MESSAGE_ID_INVALID/i,
    "reply_target_gone",
  ],
  [/message to edit not found|MESSAGE_ID_INVALID|message can't be edited|message to react not found/i, "message_gone"],
  [/message to delete not found/i, "message_gone"],
  [/message can't be deleted/i, "delete_refused"],
  [/group chat was upgraded/i, "chat_migrated"],
  [/chat not found|PEER_ID_INVALID|user not found|CHAT_ID_INVALID/i, "chat_not_found"],
  [/not enough rights|need administrator rights|CHAT_WRITE_FORBIDDEN|have no rights/i, "no_rights"],
  [/message text is empty|text must be non-empty/i, "empty_text"],
  [/REACTION_INVALID/i, "reaction_invalid"],
  [/VOICE_MESSAGES_FORBIDDEN|VIDEO_MESSAGES_FORBIDDEN/i, "voice_forbidden"],
  [/IMAGE_PROCESS_FAILED|PHOTO_INVALID|PHOTO_EXT_INVALID|PHOTO_SAVE_FILE_INVALID/i, "photo_refused"],
  [
    /wrong (?:remote )?file|failed to get http url content|wrong type of the web page|type of file mismatch|file is too big|file must be non-empty/i,
    "media_refused",
  ],
];

/**
 * Status 403. A person who never wrote to the bot cannot be written to; what helps is the same as for an unknown chat.
 */
const forbidden: readonly (readonly [RegExp, string])[] = [
  [/blocked by the user|user is deactivated/i, "blocked_by_user"],
  [/can't initiate conversation/i, "chat_not_found"],
];

/** A bare "Not Found" means that no bot has this token. For an unknown method, the description says more. */
function isBotUnknown(method: string, description: string): boolean {
  return method === "getMe" || /^(not found|unauthorized)\.?$/i.test(description.trim());
}

function reasonOfRefusal(method: string, { error_code: code, description }: Refused): string {
  if (code === 401) return "unauthorized";
  if (code === 404) return isBotUnknown(method, description) ? "unauthorized" : "method_unknown";
  if (code === 409) return "conflict";
  if (code === 429) return "flood_wait";
  if (code >= 500) return "platform_error";
  if (code === 403) return forbidden.find(([pattern]) => pattern.test(description))?.[1] ?? "no_rights";
  if (code === 413) return "too_large";
  return badRequests.find(([pattern]) => pattern.test(description))?.[1] ?? "bad_request";
}

/**
 * A server in between did not get the platform's answer in time, such as the proxy of a Bot API server to which a large
 * file is sent. The platform may have performed the call.
 */
const timeoutStatuses: ReadonlySet<number> = new Set([504, 524]);

/**
 * The error for a refusal. Except for a time-out, it is `not-sent`, because the platform answered that it did nothing.
 */
export function refusalError(method: string, refused: Refused): ChannelError {
  const reason = reasonOfRefusal(method, refused);
  const { [reason]: own } = codes;
  const seconds = refused.parameters?.retry_after;
  const movedTo = refused.parameters?.migrate_to_chat_id;
  return new ChannelError(reason, {
    retryable: refused.error_code === 429 || refused.error_code >= 500,
    fate: timeoutStatuses.has(refused.error_code) ? "unknown" : "not-sent",
    detail: `${method}: ${refused.error_code} ${refused.description}`,
    ...(own !== undefined && { hint: own.hint }),
    ...(typeof seconds === "number" && seconds >= 0 && { retryAfterMs: seconds * 1_000 }),
    ...(Number.isSafeInteger(movedTo) && { migratedTo: String(movedTo) }),
  });
}

/** The error for an answer that is not the platform's JSON, such as a proxy's page or truncated data. */
export function junkError(method: string, status: number): ChannelError {
  // The proxy of a Bot API server has a limit of its own for what is sent.
  if (status === 413)
    return new ChannelError("too_large", { detail: `${method}: a proxy refuses a call of this size (status 413)` });
  const refused = status >= 400 && !timeoutStatuses.has(status);
  return new ChannelError(status >= 500 ? "platform_error" : "bad_answer", {
    retryable: status >= 500 || status === 429 || !refused,
    // With a success status or after a time-out, the platform may have performed the call.
    fate: refused ? "not-sent" : "unknown",
    detail: `${method}: the answer (status ${status}) is not the platform's: check apiRoot and proxy`,
  });
}

/** Explains what the proxy rejected, by the code from `codeOf`. */
function proxyRemedy(code: string): string {
  if (code === "PROXY_AUTHENTICATION") return ": the proxy does not accept the user and password of the option proxy";
  return /^PROXY_/.test(code)
    ? ": the proxy refused the connection, or is not of the kind that the option proxy sets"
    : "";
}

const timeouts = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", "TIMEOUT"]);

/** The error for an incomplete answer. A call that never reached a socket certainly had no effect. */
export function wireError(method: string, error: WireError): ChannelError {
  const aborted = error.code === "ABORTED" || error.code === "CLOSED";
  const reason = aborted ? "aborted" : timeouts.has(error.code) ? "timeout" : "network";
  return new ChannelError(reason, {
    retryable: true,
    fate: error.sent ? "unknown" : "not-sent",
    detail:
      `${method}: no answer (${error.code}, ${error.sent ? "after" : "before"} the request went ` +
      `out)${proxyRemedy(error.code)}`,
  });
}
