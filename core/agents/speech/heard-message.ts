/** Which files of a message are listened to, and the message with what was said in them. */
import type { Inbound, InboundMedia } from "../../contract/index.ts";
import { isSound, soundPlaceholder } from "../conversation/sounds.ts";

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

/** `said`: by the sound files of `soundsOf`; empty where nothing was understood. */
export function withWords(inbound: Inbound, heard: ReadonlyMap<InboundMedia, string>): Inbound {
  const words = [...heard.values()];
  if (words.every((text) => text === "")) return inbound;
  return {
    ...inbound,
    text: filledIn(inbound.text, words),
    ...(inbound.plain === undefined ? {} : { plain: filledIn(inbound.plain, words) }),
    spoken: true,
  };
}
