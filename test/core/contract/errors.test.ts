import { expect, test } from "vitest";
import { asSentence } from "../../../core/contract/errors.ts";

test.each([
  ["Check the network", "Check the network."],
  ["Check the network. ", "Check the network."],
  ["It is away...\n", "It is away."],
  ["Is it on?", "Is it on?"],
  ["", "."],
])("%j ends with one punctuation mark", (text, sentence) => expect(asSentence(text)).toBe(sentence));

test("thousands of dots in a server's message are processed quickly", () => {
  const text = `${".".repeat(100_000)}x`;
  const begun = performance.now();
  expect(asSentence(text)).toHaveLength(text.length + 1);
  expect(performance.now() - begun).toBeLessThan(1_000);
});
