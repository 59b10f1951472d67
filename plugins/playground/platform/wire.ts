/** The types of the platform's HTTP interface, limited to what the emulation needs. */

export interface User {
  readonly id: number;
  readonly is_bot: boolean;
  readonly first_name: string;
  readonly last_name?: string;
  readonly username?: string;
  readonly language_code?: string;
}

export type ChatType = "private" | "group" | "supergroup" | "channel";

export interface Chat {
  readonly id: number;
  readonly type: ChatType;
  readonly title?: string;
  readonly username?: string;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly is_forum?: true;
}

export interface Entity {
  readonly type: string;
  /** Offset and length are in UTF-16 code units. */
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
  readonly user?: User;
  readonly custom_emoji_id?: string;
}

export interface FormattedText {
  readonly text: string;
  readonly entities: readonly Entity[];
}

export interface InlineButton {
  readonly text: string;
  readonly callback_data?: string;
  readonly url?: string;
  readonly copy_text?: { readonly text: string };
}

export interface InlineKeyboard {
  readonly inline_keyboard: readonly (readonly InlineButton[])[];
}

export interface StoredFile {
  readonly file_id: string;
  readonly file_unique_id: string;
  readonly file_size: number;
  readonly file_name?: string;
  readonly mime_type?: string;
  readonly width?: number;
  readonly height?: number;
  readonly duration?: number;
  readonly length?: number;
  readonly emoji?: string;
  readonly is_animated?: boolean;
  readonly is_video?: boolean;
  readonly type?: string;
}

export interface Reaction {
  readonly type: "emoji" | "custom_emoji";
  readonly emoji?: string;
  readonly custom_emoji_id?: string;
}

/** A message as the platform stores it. An edit creates a new object, because pending updates keep the old one. */
export interface Message {
  readonly message_id: number;
  readonly date: number;
  readonly chat: Chat;
  readonly from: User;
  readonly message_thread_id?: number;
  readonly is_topic_message?: true;
  readonly edit_date?: number;
  readonly text?: string;
  readonly entities?: readonly Entity[];
  readonly caption?: string;
  readonly caption_entities?: readonly Entity[];
  readonly photo?: readonly StoredFile[];
  readonly document?: StoredFile;
  readonly video?: StoredFile;
  readonly audio?: StoredFile;
  readonly voice?: StoredFile;
  readonly animation?: StoredFile;
  readonly video_note?: StoredFile;
  readonly sticker?: StoredFile;
  readonly media_group_id?: string;
  /** The chat on whose behalf the message was sent: a channel, or the group of an anonymous administrator. */
  readonly sender_chat?: Chat;
  readonly location?: { readonly latitude: number; readonly longitude: number; readonly live_period?: number };
  readonly link_preview_options?: Readonly<Record<string, unknown>>;
  readonly has_protected_content?: true;
  readonly effect_id?: string;
  readonly reply_markup?: InlineKeyboard;
  readonly reply_to_message?: Message;
  readonly quote?: { readonly text: string; readonly position: number; readonly is_manual?: true };
  readonly forward_origin?: Readonly<Record<string, unknown>>;
  readonly via_bot?: Readonly<Record<string, unknown>>;
  readonly forum_topic_created?: { readonly name: string; readonly icon_color: number };
  readonly forum_topic_closed?: Record<string, never>;
  readonly migrate_to_chat_id?: number;
  readonly migrate_from_chat_id?: number;
}

export type UpdateKind =
  | "message"
  | "edited_message"
  | "channel_post"
  | "callback_query"
  | "message_reaction"
  | "my_chat_member";

export interface Update {
  readonly update_id: number;
  readonly [kind: string]: unknown;
}

export interface BotCommand {
  readonly command: string;
  readonly description: string;
}
