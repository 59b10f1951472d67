/** Removes tags that an agent puts into its text; the surrounding layout is unchanged. */
import type { Inbound, Reply } from "../contract/index.ts";

const tag = /\[\[\s*(?:(reply_to_current)|reply_to\s*:\s*([^\s\][]+)|(audio_as_voice))\s*\]\][ \t]?/gi;

/**
 * Applies the tags to the reply. An explicit message id takes precedence over the current message; of several ids, the
 * last one wins.
 */
export function applyReplyTags(reply: Reply, inbound: Inbound): Reply {
  if (!reply.text.includes("[[")) return reply;
  let current = false;
  let explicit: string | undefined;
  let voice = false;
  const text = reply.text.replace(
    tag,
    (_whole, isCurrent: string | undefined, id: string | undefined, isVoice: string | undefined) => {
      if (isCurrent !== undefined) current = true;
      if (id !== undefined) explicit = id;
      if (isVoice !== undefined) voice = true;
      return "";
    },
  );
  if (text === reply.text) return reply;
  const replyTo = explicit ?? (current ? inbound.messageId : undefined) ?? reply.replyTo;
  return {
    ...reply,
    text: text.trim() === "" ? "" : text,
    media: voice ? reply.media.map((media) => ({ ...media, as: "voice" as const })) : reply.media,
    ...(voice && reply.media.length === 0 ? { speak: true as const } : {}),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}

/** The beginning of a tag at the end of a partial text. */
const begun = /\[(?:\[\s*(?:[a-z_]{0,16}|reply_to\s*(?::\s*[^\s\][]{0,64})?)\s*\]?)?$/i;

/** Removes tags from a partial text, including an incomplete one at its end. */
export function withoutTagsSoFar(text: string): string {
  if (!text.includes("[")) return text;
  const whole = text.replace(tag, "");
  const at = begun.exec(whole.slice(-120));
  return at === null ? whole : whole.slice(0, whole.length - at[0].length);
}
