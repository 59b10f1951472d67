/** What the agent of the goldens says, by what it is asked. */
import type { OutboundMedia, TurnEvent } from "../../../core/sdk/contract.ts";
import { picture } from "../../../plugins/echo/picture.ts";
import { shows } from "../../../plugins/echo/shows.ts";
import { sound } from "../../../plugins/echo/sound.ts";

const beginning = "This is long enough to be shown while it is being written, ";
const wide = `| Name | What it is | Where it is found |
|---|---|---|
| Ada | a person who wrote the first program | in the kitchen of the house |
| Bela | a composer | at the piano |`;
const block = "A block is shown when it is whole, and not before that. ".repeat(5).trim();
const picturesOf = (count: number): readonly OutboundMedia[] =>
  Array.from({ length: count }, (_, index) => ({ data: picture(90 + index), fileName: `disc-${index + 1}.png` }));
/** The smallest that is told as a film: its first box. */
const film = Buffer.from("000000186674797069736f6d0000020069736f6d6d703432", "hex").toString("base64");
const drawing = Buffer.from("GIF89a a drawing that moves").toString("base64");
const page = (name: string): OutboundMedia => ({
  data: Buffer.from(`%PDF-1.7 ${name}`).toString("base64"),
  fileName: `${name}.pdf`,
});
const choice: readonly TurnEvent[] = [{ type: "buttons", buttons: [[{ text: "Yes", value: "y" }]] }];

export interface Script {
  readonly text?: string;
  readonly media?: readonly OutboundMedia[];
  readonly events?: readonly TurnEvent[];
  /** Said first, and seen as a preview before the rest comes. */
  readonly seen?: string;
  /** As so many messages, where it is more than one. */
  readonly messages?: number;
  readonly thoughts?: string;
  readonly fails?: string;
}

const scripts: Readonly<Record<string, Script>> = {
  plain: { text: "Good morning." },
  "wide table": { text: wide },
  parts: { text: `${"One part of two. ".repeat(150)}\n\n${"The other part. ".repeat(150)}` },
  link: { text: "See https://example.com/." },
  grow: { seen: beginning, text: "and there is more of it." },
  blocks: { seen: `${block}\n\n`, text: "The last words." },
  think: { thoughts: "Two and two is what I have to add up here.", text: "It is **four**." },
  "grow buttons": {
    seen: beginning,
    text: "so choose.",
    events: choice,
  },
  "grow file": { seen: beginning, text: "and here it is.", media: picturesOf(1) },
  "grow parts": {
    seen: `${"One part of two. ".repeat(200)}\n\n${"The other part. ".repeat(60)}\n\n`,
    messages: 2,
    text: "The last words.",
  },
  "grow break": { seen: beginning, fails: "the model has a headache" },
  document: {
    text: "The report.",
    media: [{ data: Buffer.from("%PDF-1.7 a report").toString("base64"), fileName: "report.pdf" }],
  },
  voice: { text: "Listen.", media: [{ data: sound(), fileName: "silence.mp3", as: "voice" }] },
  audio: { text: "Listen.", media: [{ data: sound(), fileName: "silence.mp3" }] },
  "video note": { text: "Look.", media: [{ data: film, fileName: "film.mp4", as: "round-video" }] },
  animation: { text: "It moves.", media: [{ data: drawing, fileName: "drawing.gif" }] },
  video: { text: "Look.", media: [{ data: film, fileName: "film.mp4" }] },
  "two documents": { text: "Both of them.", media: [page("first"), page("second")] },
  "two sounds": {
    text: "Both of them.",
    media: ["one", "two"].map((name) => ({ data: sound(), fileName: `${name}.mp3` })),
  },
  "file to choose": { text: "This one?", media: picturesOf(1), events: choice },
  "album to choose": { text: "These?", media: picturesOf(2), events: choice },
  "named reply": { text: "[[reply_to:900]] This replies to another message." },
  "long quote": { text: Array.from({ length: 22 }, (_, index) => `> line ${index + 1}`).join("\n") },
  paragraphs: { text: "The first.\n\nThe second,\nof two lines.\n\n```\ncode\n\nin one piece\n```" },
  caption: { text: `${"A caption that is cut. ".repeat(60)}And its end.`, media: picturesOf(1) },
  album: { text: "Three of them.", media: picturesOf(3) },
  missing: { text: "Here it is.", media: [{ path: "nowhere.png" }] },
  silence: { text: "NO_REPLY" },
  error: { fails: "the model has a headache" },
};

export function scriptFor(asked: string): Script {
  const script = scripts[asked];
  if (script !== undefined) return script;
  const show = shows.find(({ name }) => asked === `show ${name}`);
  if (show === undefined) throw new Error(`there is no script for: ${asked}`);
  return { text: show.text ?? "", events: show.events?.() ?? [] };
}

/** `untilShown`: resolves when the chat has seen so many messages of what was said so far. */
export async function* perform(
  script: Script,
  untilShown: (messages: number) => Promise<unknown>,
): AsyncGenerator<TurnEvent> {
  const { text = "", media = [], events = [], seen, messages = 1, thoughts, fails } = script;
  const early: TurnEvent | undefined =
    thoughts === undefined
      ? seen === undefined
        ? undefined
        : { type: "text", delta: seen }
      : { type: "reasoning", delta: thoughts };
  if (early !== undefined) {
    const shown = untilShown(messages);
    yield early;
    await shown;
  }
  if (fails !== undefined) throw new Error(fails);
  yield { type: "text", delta: text };
  for (const one of media) yield { type: "media", media: one };
  yield* events;
  yield { type: "done" };
}
