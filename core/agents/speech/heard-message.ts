/** Which files of a message are listened to, and the message with what was said in them. */
import type { Inbound, InboundMedia } from "../../contract/index.ts";
import { hasTypedWords, isSound, soundPlaceholder } from "../conversation/sounds.ts";

/** Of one message; more are handed on as files. */
const mostSounds = 4;

/** The sound files of a person's message. Another bot is not listened to, so that no bot can cause costs. */
export function soundsOf({ authority, kind, media, sender }: Inbound): readonly InboundMedia[] {
  if (authority !== "channel" || (kind !== "message" && kind !== "edit") || sender.isBot === true) return [];
  return media.filter(isSound).slice(0, mostSounds);
}

/** Puts what was said in the place of the placeholders, in their order; the rest of it at the end. */
function filledIn(text: string, heard: readonly string[]): string {
  const left = [...heard];
  const filled = text.replaceAll(soundPlaceholder, (whole) => left.shift() || whole);
  return [filled, ...left].filter((piece) => piece.trim() !== "").join("\n");
}

/**
 * `heard`: the words of the files of `soundsOf`, in their order; empty where nothing was understood. Those of a sound
 * file with a caption, such as a song, are what the person writes about, and not what the person says.
 */
export function withWords(inbound: Inbound, heard: ReadonlyMap<InboundMedia, string>): Inbound {
  const isCaptioned = hasTypedWords(inbound);
  const isContent = ({ kind }: InboundMedia) => isCaptioned && kind !== "voice";
  if ([...heard.values()].every((text) => text === "")) return inbound;
  const words = [...heard].map(([file, text]) => (isContent(file) ? "" : text));
  const media = inbound.media.map((file) => {
    const transcript = isContent(file) ? heard.get(file) : undefined;
    return transcript ? { ...file, transcript } : file;
  });
  if (words.every((text) => text === "")) return { ...inbound, media };
  return {
    ...inbound,
    media,
    text: filledIn(inbound.text, words),
    ...(inbound.plain === undefined ? {} : { plain: filledIn(inbound.plain, words) }),
    spoken: true,
  };
}
