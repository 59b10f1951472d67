/** Rules about rendering a reply as messages of the platform. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Address, type Part, type Reply, reasonOf } from "../../../contract/index.ts";
import { partsProblem } from "../../../host/index.ts";
import { type Bench, shown, textReply } from "../bench.ts";
import { frozen } from "../junk.ts";
import type { Rule } from "../rule.ts";

function addressOf({ definition, fixtures, parse }: Bench): Address {
  const [first] = fixtures.messages;
  const parsed = first === undefined ? undefined : parse(first.raw);
  const chat = parsed !== null && parsed !== undefined && "chat" in parsed ? parsed.chat.id : "1";
  return { channel: definition.id, account: "default", chat };
}

export function partsOf(bench: Bench, reply: Reply): readonly Part[] {
  let parts: readonly Part[];
  try {
    parts = bench.connection.render(frozen(reply), addressOf(bench));
  } catch (error) {
    throw new Error(`render throws on ${shown(reply)}: ${reasonOf(error)}.`, { cause: error });
  }
  const problem = partsProblem(parts);
  if (problem !== undefined) throw new Error(`render returns an invalid value for ${shown(reply)}: ${problem}.`);
  return parts;
}

const joined = (bench: Bench, parts: readonly Part[]) => parts.map((part) => bench.textOf(part)).join("");
const withoutSpace = (text: string) => text.replace(/\s+/g, "");

/** Distinct words, so that a lost or repeated one is noticed. */
function words(count: number): string {
  return Array.from({ length: count }, (_, index) => `word${index}`).join(" ");
}

function longTexts({ capabilities: { maxChars } }: Bench): readonly string[] {
  const around = [maxChars - 1, maxChars, maxChars + 1, maxChars * 2, maxChars * 2 + 1];
  return [
    ...around.map((length) => "x".repeat(length)),
    words(Math.ceil(maxChars / 2)),
    words(maxChars).replaceAll("9 ", "9\n\n"),
  ];
}

async function keepsLimits(bench: Bench): Promise<void> {
  const { maxChars } = bench.capabilities;
  for (const text of longTexts(bench)) {
    for (const part of partsOf(bench, textReply(text))) {
      const length = [...bench.textOf(part)].length;
      if (part.chars > maxChars || length > maxChars)
        throw new Error(
          `A text of ${text.length} characters becomes a part of ${Math.max(part.chars, length)}, but ` +
            `maxChars is ${maxChars}. Split the text.`,
        );
      if (part.chars < length)
        throw new Error(`A part of ${length} characters has chars ${part.chars}. Count chars as the platform does.`);
    }
  }
}

async function losesNothing(bench: Bench): Promise<void> {
  for (const text of longTexts(bench)) {
    const shownText = withoutSpace(joined(bench, partsOf(bench, textReply(text))));
    if (shownText !== withoutSpace(text))
      throw new Error(
        `The parts of a text of ${text.length} characters show ${shownText.length}, or show them in another ` +
          "order. Each character must appear once, in order.",
      );
  }
}

/** Every text in a value, however deep. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

async function cutsNoCharacter(bench: Bench): Promise<void> {
  const { maxChars } = bench.capabilities;
  for (const lead of ["", "x", "xx", "xxx"]) {
    const text = lead + "😀".repeat(maxChars + 2);
    const parts = partsOf(bench, textReply(text));
    if (!parts.flatMap(textsIn).every((one) => one.isWellFormed()))
      throw new Error("A long text is split inside an emoji. A surrogate pair must stay in one part.");
  }
}

async function cutsNoEntity(bench: Bench): Promise<void> {
  const { maxChars } = bench.capabilities;
  for (const lead of ["", "x", "xx", "xxx"]) {
    const texts = partsOf(bench, textReply(lead + "a < b ".repeat(Math.ceil(maxChars / 3)))).flatMap(textsIn);
    // Applies only to channels that escape text.
    if (!texts.some((text) => text.includes("&lt;"))) return;
    if (texts.some((text) => /&(?:l|lt)?$/.test(text) || /^(?:l?t)?;/.test(text)))
      throw new Error("A long text with < is split inside &lt;. Split the text before you escape it.");
  }
}

/** Texts that models write, and that people make them write. */
const hostile: readonly string[] = [
  " ",
  "\n\n\n",
  "**",
  "**open",
  "```",
  "```js\nopen",
  "[link](",
  "[](http://x)",
  "<b>",
  "</b><script>",
  "&amp;&lt",
  "| a | b |\n|---|",
  "> > > quote",
  "- ".repeat(500),
  "*".repeat(2_000),
  "\u0000\u0007",
  "\ud83d",
  "\u202eright to left",
  "👨‍👩‍👧‍👦".repeat(50),
  "a\u0300".repeat(500),
];

async function takesHostileTexts(bench: Bench): Promise<void> {
  for (const text of hostile) partsOf(bench, textReply(text));
}

async function isPure(bench: Bench): Promise<void> {
  const reply = textReply(`${words(400)} **bold** \`code\``);
  if (!isDeepStrictEqual(partsOf(bench, reply), partsOf(bench, reply)))
    throw new Error(
      "render returns different parts for the same reply. The result must depend only on the reply and the address.",
    );
}

async function partsAreJson(bench: Bench): Promise<void> {
  for (const text of ["Hello", words(400)]) {
    const parts = partsOf(bench, textReply(text));
    if (!isDeepStrictEqual(JSON.parse(JSON.stringify(parts)), parts))
      throw new Error(
        `Parts are stored in the outbox as JSON, which changes this value: ${shown(parts)}. Omit undefined ` +
          "values and class instances.",
      );
  }
}

async function sendsNothingEmpty(bench: Bench): Promise<void> {
  const [part] = partsOf(bench, textReply(""));
  if (part !== undefined)
    throw new Error(`An empty reply becomes the part ${shown(part)}, but platforms refuse empty messages.`);
}

async function hasButtons(bench: Bench): Promise<void> {
  const buttons = [[{ text: "Agree", value: "agree-value" }], [{ text: "Decline", value: "decline-value" }]];
  const texts = partsOf(bench, textReply("Choose:", { buttons })).flatMap(textsIn);
  for (const wanted of ["Agree", "agree-value", "Decline", "decline-value"])
    if (!texts.some((text) => text.includes(wanted)))
      throw new Error(`The capability buttons is declared, but no part contains ${wanted}.`);
}

async function hasFiles(bench: Bench): Promise<void> {
  const path = join(bench.test.account.directory, "contract.txt");
  writeFileSync(path, "contract");
  const media = [{ path, mimeType: "text/plain", fileName: "contract.txt", size: 8 }];
  if (partsOf(bench, textReply("", { media })).length === 0)
    throw new Error("The capability media is declared, but a reply with only a file has no part.");
}

/** What an edit means by no rows, and by one empty row. */
async function distinguishesEmptyRow(bench: Bench): Promise<void> {
  const [unchanged, removed] = [[], [[]]].map((buttons) =>
    JSON.stringify(partsOf(bench, textReply("The new text", { replaces: "1", buttons }))),
  );
  if (unchanged === removed)
    throw new Error(
      "A reply that replaces a message has the same parts with buttons [] and [[]]. [] keeps the buttons of the " +
        "message, [[]] removes them.",
    );
}

export const renderRules: readonly Rule[] = [
  {
    title: "render > an empty row of buttons, which removes those of a message, differs from none",
    declares: (_, { edits, buttons }) => edits === true && (buttons ?? false) !== false,
    run: distinguishesEmptyRow,
  },
  { title: "render > keeps within maxChars", run: keepsLimits },
  { title: "render > loses nothing of a long text", run: losesNothing },
  { title: "render > never splits a character", run: cutsNoCharacter },
  { title: "render > never splits an entity", run: cutsNoEntity },
  { title: "render > accepts every text", run: takesHostileTexts },
  { title: "render > is pure", run: isPure },
  { title: "render > returns JSON", run: partsAreJson },
  { title: "render > creates no empty message", run: sendsNothingEmpty },
  { title: "render > buttons are in a part", capability: "buttons", run: hasButtons },
  { title: "render > a file without text becomes a part", capability: "media", run: hasFiles },
];
