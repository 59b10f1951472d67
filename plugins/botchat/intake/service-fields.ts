/**
 * Service messages, which the platform sends in the form of messages. They need no reply; the reason code names their
 * kind.
 */
import type { Fields } from "./fields.ts";

export const serviceFields: readonly string[] = [
  "new_chat_members",
  "left_chat_member",
  "chat_owner_left",
  "chat_owner_changed",
  "community_chat_added",
  "community_chat_joined",
  "community_chat_removed",
  "new_chat_title",
  "new_chat_photo",
  "delete_chat_photo",
  "group_chat_created",
  "supergroup_chat_created",
  "channel_chat_created",
  "managed_bot_created",
  "message_auto_delete_timer_changed",
  "migrate_to_chat_id",
  "migrate_from_chat_id",
  "pinned_message",
  "poll_option_added",
  "poll_option_deleted",
  "connected_website",
  "write_access_allowed",
  // Encrypted with a key that our bots do not have.
  "passport_data",
  "proximity_alert_triggered",
  "boost_added",
  "chat_background_set",
  "forum_topic_created",
  "forum_topic_edited",
  "forum_topic_closed",
  "forum_topic_reopened",
  "general_forum_topic_hidden",
  "general_forum_topic_unhidden",
  "giveaway_created",
  "giveaway_completed",
  "gift_upgrade_sent",
  "suggested_post_approved",
  "suggested_post_approval_failed",
  "suggested_post_declined",
  "suggested_post_paid",
  "suggested_post_refunded",
  "paid_message_price_changed",
  "direct_message_price_changed",
  "video_chat_scheduled",
  "video_chat_started",
  "video_chat_ended",
  "video_chat_participants_invited",
];

/** The reason code of a message without content. */
export function silenceOf(message: Fields): string {
  const field = serviceFields.find((name) => message[name] !== undefined);
  return field === undefined ? "content_unknown" : `service_${field}`;
}
