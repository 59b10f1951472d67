/** What is stored of an event: the fields that are read. */
import { type Fields, list, pick, record, text } from "../fields.ts";

const messageFields = ["type", "subtype", "user", "bot_id", "username", "text", "ts", "thread_ts", "parent_user_id"];
const eventFields = [...messageFields, "channel", "event_ts", "deleted_ts", "reaction", "item"];
const fileFields = ["id", "name", "mimetype", "size", "mode", "subtype"];
const cardFields = ["is_share", "is_msg_unfurl", "author_name", "fallback", "text", "from_url", "title"];
const withoutText = messageFields.filter((name) => name !== "text");

/** What a message was before it was edited or deleted is not stored again. */
export function compactEvent(event: Fields): Fields {
  const [message, before] = [record(event.message), record(event.previous_message)];
  const isUnchanged = message !== undefined && before !== undefined && message.text === before.text;
  return {
    ...pick(event, eventFields),
    ...lists(event),
    ...(message !== undefined && { message: { ...pick(message, messageFields), ...lists(message) } }),
    ...(before !== undefined && { previous_message: pick(before, withoutText) }),
    ...(isUnchanged && { unchanged: true }),
  };
}

function lists({ files, attachments, bot_profile }: Fields): Fields {
  const name = text(record(bot_profile)?.name);
  return {
    ...(files !== undefined && { files: list(files).map((file) => pick(record(file) ?? {}, fileFields)) }),
    ...(attachments !== undefined && {
      attachments: list(attachments).map((card) => pick(record(card) ?? {}, cardFields)),
    }),
    ...(name !== undefined && { bot_profile: { name } }),
  };
}

export function compactPress(payload: Fields): Fields {
  return {
    ...pick(payload, ["type", "response_url"]),
    user: pick(record(payload.user) ?? {}, ["id"]),
    container: pick(record(payload.container) ?? {}, ["message_ts", "thread_ts", "channel_id"]),
    channel: pick(record(payload.channel) ?? {}, ["id"]),
    message: pick(record(payload.message) ?? {}, ["thread_ts"]),
    actions: list(payload.actions).map((action) => pick(record(action) ?? {}, ["value", "selected_option"])),
  };
}

export const compactCommand = (form: Fields): Fields =>
  pick(form, ["channel_id", "user_id", "command", "text", "response_url"]);
