/** The limits of a platform, in the unit in which it counts. */
import { type Bench, never, shown, textReply } from "../bench.ts";
import type { Rule } from "../rule.ts";
import { partsOf, textsIn } from "./render.ts";

/** The length of a text in the platform's unit. */
function lengthOf(text: string, { fixtures: { unit = "characters" } }: Bench): number {
  if (unit === "bytes") return Buffer.byteLength(text);
  return unit === "utf16" ? text.length : [...text].length;
}

/** Texts whose length depends on the unit: each takes more UTF-16 units or bytes than it has characters. */
function unequalTexts({ definition }: Bench): readonly string[] {
  const { maxChars } = definition.capabilities;
  return ["😀 ", "漢字 ", "né "].flatMap((letters) => ["", "x"].map((lead) => lead + letters.repeat(maxChars + 2)));
}

async function keepsUnit(bench: Bench): Promise<void> {
  const { maxChars } = bench.definition.capabilities;
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
  const { maxChars } = bench.definition.capabilities;
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
  const value = "é".repeat(32);
  const texts = partsOf(bench, textReply("Choose:", { buttons: [[{ text: "Agree", value }]] })).flatMap(textsIn);
  if (!texts.some((text) => text.includes(value)))
    throw new Error("A button's value of 64 bytes is changed in the part, so a press would return another value.");
}

export const limitRules: readonly Rule[] = [
  { title: "limits > parts keep within maxChars in the platform's unit", run: keepsUnit },
  { title: "limits > chars is counted in the platform's unit", run: countsUnit },
  { title: "limits > the platform accepts the longest part", needs: [], run: sendsLongest },
  { title: "limits > a button keeps a value of 64 bytes", capability: "buttons", run: keepsButtonValues },
];
