/** Converts every failure of a call to a `ChannelError`. No error is passed on unchanged. */
import { type ChannelError, refusedCall, unansweredCall } from "service-gateway/sdk/channel";
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
  [/EFFECT_ID_INVALID/i, "effect_refused"],
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
 * The error for a refusal. Except for a time-out, it is `not-sent`, because the platform answered that it did nothing.
 */
export function refusalError(method: string, refused: Refused): ChannelError {
  const { error_code: status, description, parameters } = refused;
  const reason = reasonOfRefusal(method, refused);
  const { [reason]: own } = codes;
  const movedTo = parameters?.migrate_to_chat_id;
  return refusedCall(
    { status, body: refused },
    {
      ...{ call: method, reason, detail: description },
      ...(own !== undefined && { hint: own.hint }),
      ...(Number.isSafeInteger(movedTo) && { migratedTo: String(movedTo) }),
    },
  );
}

/** The error for an answer that is not the platform's JSON, such as a proxy's page or truncated data. */
export function junkError(method: string, status: number): ChannelError {
  const detail =
    status === 413
      ? "a proxy refuses a call of this size"
      : "the answer is not the platform's: check apiRoot and proxy";
  return refusedCall({ status }, { call: method, detail });
}

/** Explains what the proxy rejected, by the code from `codeOf`. */
function proxyRemedy(code: string): string {
  if (code === "PROXY_AUTHENTICATION") return ": the proxy does not accept the user and password of the option proxy";
  return /^PROXY_/.test(code)
    ? ": the proxy refused the connection, or is not of the kind that the option proxy sets"
    : "";
}

/** The error for an incomplete answer. A call that never reached a socket certainly had no effect. */
export function wireError(method: string, error: WireError): ChannelError {
  return unansweredCall(error, { call: method, sent: error.sent, remedy: proxyRemedy(error.code) });
}
