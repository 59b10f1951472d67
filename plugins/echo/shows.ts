/** Fixed requests that demonstrate each feature of a channel. */
import { EngineError, type TurnEvent } from "service-gateway/sdk";
import { picture } from "./picture.ts";
import { sound } from "./sound.ts";

export interface Show {
  readonly name: string;
  readonly summary: string;
  /** Text, streamed at the pace of an answer. */
  readonly text?: string;
  /** Its text after the press of a button, if it differs. */
  readonly pressedText?: string;
  readonly reasoning?: string;
  /** Events after the text. */
  readonly events?: () => readonly TurnEvent[];
  /** Milliseconds of silence before the first word, regardless of the pace. */
  readonly waitMs?: number;
  readonly fails?: () => Error;
}

const markdown = `# A heading

**Bold**, *italic*, ~~struck~~, \`code\`, ||a spoiler|| and a [link](https://example.com/).

- a list
  - with a level below
- [x] a box that is ticked
- [ ] and one that is not

1. first
2. second

> A quotation
> of two lines.

---

A file name such as README.md is not a link, and <b>raw HTML</b> & signs are text.`;

const table = `Here is a table:

| Planet | Moons | Day |
|:-------|------:|:---:|
| Earth | 1 | 24 h |
| Mars | 2 | 24.6 h |
| Jupiter | 97 | 9.9 h |`;

const code = `A function in TypeScript:

\`\`\`ts
export function greet(name: string): string {
  return \`Hello, \${name} & friends <all>\`;
}
\`\`\`

And a line of shell: \`curl -s http://127.0.0.1/healthz\`.`;

function longText(): string {
  const paragraphs = Array.from(
    { length: 30 },
    (_, index) =>
      `Paragraph ${index + 1} of 30. A long answer is cut where it reads best: between paragraphs, then ` +
      "lines, then sentences, then words. " +
      "Nothing is lost at a cut, nothing is said twice, and no character is torn apart, not even " +
      "👩‍👩‍👧‍👦 or ümläuts. " +
      "The parts arrive in order, in the same chat and in the same topic, and the first of them replaces " +
      "what you saw growing.",
  );
  return `# A long text\n\n${paragraphs.join("\n\n")}`;
}

export const shows: readonly Show[] = [
  { name: "markdown", summary: "headings, lists, quotes, links", text: markdown },
  { name: "table", summary: "a table", text: table },
  { name: "code", summary: "a block of code", text: code },
  { name: "long", summary: "more than fits one message", text: longText() },
  {
    name: "buttons",
    summary: "buttons that send something back",
    text: "Choose one:",
    events: () => [
      {
        type: "buttons",
        buttons: [
          [
            { text: "Yes", value: "yes" },
            { text: "No", value: "no" },
          ],
          [{ text: "Ask me later", value: "later" }],
        ],
      },
    ],
  },
  {
    name: "media",
    summary: "a picture with a caption",
    text: "A yellow disc.",
    events: () => [{ type: "media", media: { data: picture(), fileName: "disc.png" } }],
  },
  {
    name: "album",
    summary: "three pictures in one",
    text: "Yellow, lime and green.",
    events: () =>
      [255, 180, 90].map((red, index) => ({
        type: "media",
        media: { data: picture(red), fileName: `disc-${index + 1}.png` },
      })),
  },
  {
    name: "voice",
    summary: "a voice note",
    text: "[[audio_as_voice]]",
    events: () => [{ type: "media", media: { data: sound(), fileName: "silence.mp3" } }],
  },
  {
    name: "reply",
    summary: "an answer that replies to a message",
    text: "[[reply_to_current]] This replies to your message.",
    pressedText: "[[reply_to_current]] This replies to the message with the button.",
  },
  {
    name: "reasoning",
    summary: "thoughts before the answer",
    reasoning: "Two and two: one, two, and again one, two. That is four.",
    text:
      "It is **four**. I thought before I said so. If my thoughts are not above, send `/reasoning on` and ask for it " +
      "again.",
  },
  { name: "slow", summary: "five seconds of silence first", waitMs: 5_000, text: "Here I am. Thank you for waiting." },
  { name: "silence", summary: "no answer at all", text: "NO_REPLY" },
  {
    name: "error",
    summary: "an engine that fails",
    fails: () =>
      new EngineError("asked_to_fail", {
        detail: "The echo engine was asked to fail",
        hint: "Ask for something other than `show error`.",
      }),
  },
];

/** Demonstrations that consist of one message, offered as buttons. A press arrives as `callback_data: show <name>`. */
const offered = [
  ["table", "code"],
  ["buttons", "album"],
  ["reply", "reasoning"],
] as const;

export const offeredShows = (): readonly TurnEvent[] => [
  {
    type: "buttons",
    buttons: offered.map((row) => row.map((name) => ({ text: `show ${name}`, value: `show ${name}` }))),
  },
];

export function showsList(): string {
  const lines = shows.map((show) => `- \`show ${show.name}\`: ${show.summary}`);
  return `I repeat your words. I can also show:\n\n${lines.join("\n")}`;
}

/** The demonstration that a message requests; `undefined` if it requests none and is echoed. */
export function parseShow(text: string): Show | "list" | undefined {
  // In a group, the request follows a mention of the bot.
  const asked = text
    .trim()
    .replace(/^@\w+[,:]?\s+/, "")
    .toLowerCase();
  if (/^(?:help(?: me)?|show)[.!?]?$/.test(asked)) return "list";
  const name = /^show (?:me )?(?:an? |the |some )?([a-z]+)[.!?]?$/.exec(asked)?.[1];
  return shows.find((show) => show.name === name);
}
