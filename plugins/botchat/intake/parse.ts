/** Parses the platform's updates. Pure and total: invalid input is ignored and never throws. */
import type { Json } from "service-gateway/sdk";
import type { Parsed } from "service-gateway/sdk/channel";
import { record } from "./fields.ts";
import { newestVersions } from "./gathered.ts";
import { parseMembership } from "./membership.ts";
import { parseMessages } from "./message.ts";
import { type BotIdentity, isChannelInbox, isUnknownChat } from "./place.ts";
import { type ButtonScope, parsePress } from "./press.ts";
import { parseReaction } from "./reaction.ts";

/** The kinds of update to request. The platform sends no others. */
export const updateKinds = [
  "message",
  "edited_message",
  "callback_query",
  "message_reaction",
  "my_chat_member",
  "channel_post",
] as const;

/**
 * Parses an update; `undefined` for unknown updates. `more` contains the updates gathered with it, oldest first.
 * `buttons` says where button presses are accepted.
 */
export function parseUpdate(
  raw: Json,
  bot: BotIdentity,
  more: readonly Json[] = [],
  { buttons = "allowlist" }: { readonly buttons?: ButtonScope } = {},
): Parsed {
  const update = record(raw);
  if (update === undefined) return undefined;
  if (isUnknownChat(update)) return { silent: "chat_type_unknown" };
  if (isChannelInbox(update)) return { silent: "channel_direct_messages" };
  const versions = newestVersions([raw, ...more]);
  if (versions.length > 0) return parseMessages(versions, bot);
  const press = record(update.callback_query);
  if (press !== undefined) return parsePress(press, buttons);
  const reaction = record(update.message_reaction);
  if (reaction !== undefined) return parseReaction(reaction, bot);
  const membership = record(update.my_chat_member);
  return membership === undefined ? undefined : parseMembership(membership);
}
