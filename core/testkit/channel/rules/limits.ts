/** The limits of a platform, in the unit in which it counts. */
import type { ChannelCapabilities } from "../../../sdk/contract.ts";
import { type Bench, never, shown, textReply } from "../bench.ts";
import type { Rule } from "../rule.ts";
import { partsOf, textsIn } from "./render.ts";

/** The length of a text in the platform's unit. */
function lengthOf(text: string, { fixtures: { unit = "characters" } }: Bench): number {
  if (unit === "bytes") return Buffer.byteLength(text);
  return unit === "utf16" ? text.length : [...text].length;
}

/** Texts whose length depends on the unit: each takes more UTF-16 units or bytes than it has characters. */
function unequalTexts({ capabilities }: Bench): readonly string[] {
  const { maxChars } = capabilities;
  return ["😀 ", "漢字 ", "né "].flatMap((letters) => ["", "x"].map((lead) => lead + letters.repeat(maxChars + 2)));
}

async function keepsUnit(bench: Bench): Promise<void> {
  const { maxChars } = bench.capabilities;
  const unit = bench.fixtures.unit ?? "characters";
  for (const text of unequalTexts(bench)) {
    for (const part of partsOf(bench, textReply(text))) {
      const length = Math.max(part.chars, lengthOf(bench.textOf(part), bench));
      if (length > maxChars)
        throw new Error(
          `A part has ${length} ${unit}, but maxChars is ${maxChars}. Split the text in the platform's unit.`,
        );
    }
  }
}

async function countsUnit(bench: Bench): Promise<void> {
  for (const text of unequalTexts(bench)) {
    for (const part of partsOf(bench, textReply(text))) {
      const length = lengthOf(bench.textOf(part), bench);
      if (part.chars < length)
        throw new Error(
          `A part of ${length} ${bench.fixtures.unit ?? "characters"} has chars ${part.chars}. Count as the ` +
            "platform does.",
        );
    }
  }
}

async function sendsLongest(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const { maxChars } = bench.capabilities;
  for (const text of ["x".repeat(maxChars), "😀 ".repeat(maxChars)]) {
    const parts = bench.render(text, address);
    for (const part of parts) {
      const outcome = await bench.ending(bench.connection.send(part, address, never));
      if (outcome === "late" || "error" in outcome)
        throw new Error(
          `The platform rejects a part of ${part.chars}, although maxChars is ${maxChars}: ${shown(outcome)}.`,
        );
    }
  }
}

async function keepsButtonValues(bench: Bench): Promise<void> {
  const { buttons } = bench.capabilities;
  const { valueBytes = 64 } = typeof buttons === "object" ? buttons : {};
  const value = "é".repeat(Math.min(64, valueBytes) / 2);
  const texts = partsOf(bench, textReply("Choose:", { buttons: [[{ text: "Agree", value }]] })).flatMap(textsIn);
  if (!texts.some((text) => text.includes(value)))
    throw new Error("A button's value of 64 bytes is changed in the part, so a press would return another value.");
}

/** As many buttons as the channel declares, with the longest labels and values. */
async function showsAllButtons(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const {
    perRow = 1,
    perMessage = 1,
    labelChars = 10,
    valueBytes = 20,
  } = bench.capabilities.buttons as Extract<ChannelCapabilities["buttons"], object>;
  const count = Math.min(perMessage, 100);
  const all = Array.from({ length: count }, (_, index) => {
    const value = String(index).padStart(Math.min(valueBytes, 1_000), "v");
    return { text: String(index).padStart(Math.min(labelChars, 1_000), "L"), value };
  });
  const rows = Array.from({ length: Math.ceil(count / perRow) }, (_, row) =>
    all.slice(row * perRow, (row + 1) * perRow),
  );
  const parts = bench.connection.render(textReply("Choose:", { buttons: rows }), address);
  const texts = parts.flatMap(textsIn);
  const lost = all.find(({ text, value }) => !texts.includes(value) || !texts.includes(text));
  if (lost !== undefined)
    throw new Error(
      `With ${count} buttons in rows of ${perRow}, as capabilities.buttons declares, no part contains the button ` +
        `${shown(lost.text)} with its value.`,
    );
  for (const part of parts) {
    const outcome = await bench.ending(bench.connection.send(part, address, never));
    if (outcome === "late" || "error" in outcome)
      throw new Error("The platform rejects as many buttons as capabilities.buttons declares. Declare its limits.", {
        cause: outcome === "late" ? undefined : outcome.error,
      });
  }
}

export const limitRules: readonly Rule[] = [
  { title: "limits > parts keep within maxChars in the platform's unit", run: keepsUnit },
  { title: "limits > chars is counted in the platform's unit", run: countsUnit },
  { title: "limits > the platform accepts the longest part", needs: [], run: sendsLongest },
  { title: "limits > a button keeps a value of 64 bytes", capability: "buttons", run: keepsButtonValues },
  {
    title: "limits > the platform shows as many buttons as are declared",
    declares: (_, { buttons }) => typeof buttons === "object",
    needs: [],
    run: showsAllButtons,
  },
];
