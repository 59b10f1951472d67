/** The limits of a platform, in the unit in which it counts. */
import { type Bench, never, shown, textReply } from "../bench.ts";
import type { Rule } from "../rule.ts";
import { partsOf, textsIn } from "./render.ts";

/** The length of a text in the platform's unit. */
function lengthOf(text: string, { fixtures: { unit = "characters" } }: Bench): number {
  if (unit === "bytes") return Buffer.byteLength(text);
  return unit === "utf-16" ? text.length : [...text].length;
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
      if (length > maxChars) throw new Error(`A part has ${length} ${unit}, and maxChars is ${maxChars}: cut by what the platform counts.`);
    }
  }
}

async function countsUnit(bench: Bench): Promise<void> {
  for (const text of unequalTexts(bench)) {
    for (const part of partsOf(bench, textReply(text))) {
      const length = lengthOf(bench.textOf(part), bench);
      if (part.chars < length)
        throw new Error(
          `A part of ${length} ${bench.fixtures.unit ?? "characters"} says that it has ${part.chars}: count as the platform does.`,
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
        throw new Error(`The platform does not take a part of ${part.chars}, and maxChars is ${maxChars}: ${shown(outcome)}.`);
    }
  }
}

async function keepsButtonValues(bench: Bench): Promise<void> {
  const value = "é".repeat(32);
  const texts = partsOf(bench, textReply("Choose:", { buttons: [[{ text: "Agree", value }]] })).flatMap(textsIn);
  if (!texts.some((text) => text.includes(value)))
    throw new Error("The value of a button, 64 bytes, is not in a part as it was given: a press would bring back another one.");
}

export const limitRules: readonly Rule[] = [
  { title: "limits > parts keep within maxChars in the platform's unit", run: keepsUnit },
  { title: "limits > chars is counted in the platform's unit", run: countsUnit },
  { title: "limits > the platform takes the longest part", needs: [], run: sendsLongest },
  { title: "limits > a button keeps a value of 64 bytes", capability: "buttons", run: keepsButtonValues },
];
