/**
 * People who write to the bot: texts, some too long for one message, albums, edits, presses of its buttons. It records
 * everything they did on the platform.
 */
import type { Platform } from "../../plugins/playground/platform/index.ts";
import type { Random } from "./random.ts";

/** One update. */
export interface SentUpdate {
  /** Identifies the update here and in the inbox. */
  readonly key: string;
  readonly kind: "message" | "edit" | "press";
  readonly chat: number;
  /** The first message of the whole it belongs to: an album, a long text, a message with its edits. */
  readonly whole: string;
  readonly message: number;
  readonly text: string;
  /** Size of its picture in bytes; every picture has a different size. */
  readonly size?: number;
  /** How long the gateway waits for the next part; 0 for a separate message. */
  readonly waitMs: number;
}

export interface People {
  readonly updates: readonly SentUpdate[];
  /** A person writes to the bot. */
  write(person: number): void;
}

interface UpdateFields {
  readonly message?: MessageFields;
  readonly edited_message?: MessageFields;
  readonly callback_query?: { readonly id: string };
}

interface MessageFields {
  readonly message_id: number;
  readonly chat: { readonly id: number };
  readonly text?: string;
}

const nameOf = ({ chat, message_id }: MessageFields) => `${chat.id}:${message_id}`;

/** The key of an update as the platform sent it. */
export function keyOf({ message, edited_message: edited, callback_query: press }: UpdateFields): string {
  if (message !== undefined) return `message ${nameOf(message)}`;
  if (edited !== undefined) return `edit ${nameOf(edited)} ${edited.text ?? ""}`;
  return `press ${press?.id ?? "of nothing"}`;
}

/** The message to which the engine replies with buttons, and its text. */
export const buttons = { asked: "show buttons", answer: "Choose one:", data: ["yes", "no", "later"] } as const;

const words = (
  "amber birch cedar delta ember fjord grove heron inlet jetty kelp larch maple north ocean pearl quartz " +
  "river stone tide"
).split(" ");
const albumWaitMs = 500;
const splitWaitMs = 1_500;

export const sentence = (random: Random, least: number, most: number): string =>
  Array.from({ length: random.whole(least, most) }, () => random.pick(words)).join(" ");

export function createPeople(options: {
  readonly platform: Platform;
  readonly random: Random;
  /** Does something a little later; the soak waits until it is done. */
  readonly later: (ms: number, act: () => void) => void;
}): People {
  const { platform, random, later } = options;
  const updates: SentUpdate[] = [];
  const pressed = new Set<string>();
  let serial = 0;

  function note(kind: SentUpdate["kind"], message: MessageFields, more: Partial<SentUpdate> = {}): SentUpdate {
    const key = keyOf(kind === "edit" ? { edited_message: message } : { message });
    const one = {
      key,
      kind,
      chat: message.chat.id,
      whole: nameOf(message),
      message: message.message_id,
      text: "",
      waitMs: 0,
      ...more,
    };
    updates.push(one);
    return one;
  }

  function noteParts(
    parts: readonly MessageFields[],
    waitMs: number,
    more: (index: number) => Partial<SentUpdate>,
  ): void {
    const [first] = parts;
    if (first === undefined) return;
    for (const [index, part] of parts.entries())
      note("message", part, { whole: nameOf(first), waitMs, ...more(index) });
  }

  function writeText(person: number): void {
    const mark = `q${serial}`;
    // Half of them are long enough for a preview to grow while the engine writes.
    const text = `${mark} ${random.chance(0.5) ? sentence(random, 1, 3) : sentence(random, 20, 34)}`;
    const message = platform.act.say(person, person, text);
    note("message", message, { text });
    if (!random.chance(0.3)) return;
    // Mostly while the message waits; sometimes after its reply.
    later(random.pick([0, 5, 30, 100, 300, 2_000]), () => {
      const better = `${mark} no, ${sentence(random, 1, 4)}`;
      note("edit", platform.act.edit(person, person, message.message_id, better), { text: better });
    });
  }

  function writeAlbum(person: number): void {
    const caption = `a${serial} ${sentence(random, 1, 3)}`;
    const sizes = Array.from({ length: random.whole(2, 4) }, (_, index) => 100 + serial * 10 + index);
    const files = sizes.map((size) => ({
      kind: "photo" as const,
      bytes: Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(size - 8, 1)]),
      fileName: `${size}.png`,
      mimeType: "image/png",
    }));
    const parts = platform.act.album(person, person, files, { caption });
    noteParts(parts, albumWaitMs, (index) => ({ text: index === 0 ? caption : "", size: sizes[index] ?? 0 }));
  }

  function writeLong(person: number): void {
    // Few words, so that it is repeated as quickly as a short text; the last part is one that nothing can follow.
    const long = Array.from({ length: random.whole(7, 8) }, () => random.pick(words).repeat(160));
    const parts = platform.act.paste(person, person, `l${serial} ${long.join(" ")}`);
    noteParts(parts, splitWaitMs, (index) => ({ text: parts[index]?.text ?? "" }));
  }

  function press(person: number, message: number): void {
    const room = [...platform.world.rooms.values()].find(({ chat }) => chat.id === person);
    // A preview that was given up has been removed by now.
    if (room?.messages.get(message)?.reply_markup === undefined) return;
    const data = random.pick(buttons.data);
    const key = keyOf({ callback_query: { id: platform.act.press(person, person, message, data) } });
    updates.push({
      key,
      kind: "press",
      chat: person,
      whole: key,
      message,
      text: `You pressed the button with the value ${data}.`,
      waitMs: 0,
    });
  }

  platform.on((event) => {
    if (event.type !== "message" && event.type !== "edit") return;
    const { message } = event;
    if (message.reply_markup === undefined || pressed.has(nameOf(message))) return;
    pressed.add(nameOf(message));
    for (let times = random.whole(1, 2); times > 0; times -= 1)
      later(random.whole(0, 400), () => press(message.chat.id, message.message_id));
  });

  return {
    updates,
    write(person) {
      serial += 1;
      const die = random.next();
      if (die < 0.12) writeAlbum(person);
      else if (die < 0.2) writeLong(person);
      else if (die < 0.32) note("message", platform.act.say(person, person, buttons.asked), { text: buttons.asked });
      else writeText(person);
    },
  };
}
