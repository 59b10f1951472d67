/** What the ids of the server's errors mean. An id that is not here has the meaning of its HTTP status. */

export interface Meaning {
  /** A code of the gateway, or of `codes.ts`. */
  readonly reason: string;
  readonly hint?: string;
  /** Whether the server may have performed the call. */
  readonly unknown?: true;
}

const newToken: Meaning = {
  reason: "unauthorized",
  hint:
    "Create a token: product menu, Integrations, Bot Accounts, Create New Token. " +
    "Check that the bot is enabled there.",
};
const notAMember: Meaning = {
  reason: "no_rights",
  hint: "Add the bot: write /invite @<bot> in the channel. It has to be in the team first: team menu, Invite People.",
};
const gone: Meaning = { reason: "message_gone" };
const threadGone: Meaning = { reason: "thread_gone" };
const tooLong: Meaning = { reason: "too_long" };
const tooLarge: Meaning = {
  reason: "too_large",
  hint: "Send a smaller file. The limit is in System Console, Environment, File Storage, Maximum file size.",
};
const filesDisabled: Meaning = { reason: "files_disabled" };
const noChat: Meaning = { reason: "chat_not_found" };
const noDirect: Meaning = {
  reason: "no_rights",
  hint: "The server allows direct messages within a team only: add the bot to a team of the person.",
};

export const meanings: Readonly<Record<string, Meaning>> = {
  "api.context.session_expired.app_error": newToken,
  "api.context.invalid_token.error": newToken,
  "api.context.token_provided.app_error": newToken,
  "api.context.permissions.app_error": notAMember,
  "api.channel.get_channel_member.missing.app_error": notAMember,
  "app.channel.get_member.missing.app_error": notAMember,
  "app.channel.get.existing.app_error": noChat,
  "store.sql_channel.get.existing.app_error": noChat,
  "app.channel.get_by_name.missing.app_error": noChat,
  "app.team.get_by_name.missing.app_error": noChat,
  "app.user.missing_account.const": noChat,
  "app.user.get_by_username.app_error": noChat,
  "api.channel.create_direct_channel.invalid_user.app_error": noChat,
  "api.post.create_post.can_not_post_to_deleted.error": { reason: "channel_archived" },
  "api.post.create_post.can_not_post_in_restricted_dm.error": noDirect,
  "api.post.create_post.root_id.app_error": threadGone,
  "api.post.create_post.channel_root_id.app_error": threadGone,
  "app.post.get.app_error": gone,
  "api.post.update_post.find.app_error": gone,
  "api.post.update_post.permissions_details.app_error": gone,
  "api.post.update_post.permissions_time_limit.app_error": { reason: "edit_too_late" },
  "model.post.is_valid.message_length.app_error": tooLong,
  "model.post.is_valid.msg.app_error": tooLong,
  "api.file.upload_file.too_large.app_error": tooLarge,
  "api.file.upload_file.too_large_detailed.app_error": tooLarge,
  "api.file.attachments.disabled.app_error": filesDisabled,
  "app.file_info.get.app_error": { reason: "media_missing" },
  "api.reaction.save_reaction.invalid.app_error": { reason: "reaction_invalid" },
  "model.reaction.is_valid.emoji_name.app_error": { reason: "reaction_invalid" },
  "api.post.deduplicate_create_post.pending": { reason: "send_in_progress", unknown: true },
  "api.post.deduplicate_create_post.cache_error": { reason: "platform_error", unknown: true },
  "api.post.deduplicate_create_post.failed_to_get": { reason: "platform_error", unknown: true },
};
