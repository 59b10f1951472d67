/** Which files of a message are sound, and where the store keeps what the doctor reads about voice messages. */
import type { Inbound, InboundMedia } from "../../contract/index.ts";

/** Namespace of the people who have read that nothing transcribes their voice messages. */
export const unheardPeople = "speech-notices";

/** Namespace of what transcribes or speaks and does not answer. */
export const speechAway = "speech-away";

/** The text of a sound file until its words are known. */
export const soundPlaceholder = "<media:audio>";

export const isSound = ({ kind, mimeType = "" }: InboundMedia): boolean =>
  kind === "voice" || kind === "audio" || (kind === "document" && mimeType.startsWith("audio/"));

/** The message is nothing but voice messages, so there is nothing to answer without their words. */
export function isOnlyVoice(message: Pick<Inbound, "text" | "media">): boolean {
  const { media } = message;
  return !hasTypedWords(message) && media.length > 0 && media.every(({ kind }) => kind === "voice");
}

/** Whether a person has written something beside the sound files. */
export const hasTypedWords = ({ text }: Pick<Inbound, "text">): boolean =>
  text.replaceAll(soundPlaceholder, "").trim() !== "";
