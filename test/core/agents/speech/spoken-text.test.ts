/** What of a reply is read aloud. */
import { expect, test } from "vitest";
import { spokenText } from "../../../../core/agents/speech/speaking.ts";

test.each([
  ["It is **sunny**, and _warm_.", "It is sunny, and warm."],
  ["See [the page](https://example.org/a?b=c).", "See the page."],
  ["Look at https://example.org now", "Look at  now"],
  ["Run this:\n\n```sh\nrm -rf /\n```\n\nThat is all.", "Run this:\n\nThat is all."],
  ["Code without an end:\n\n```\nx = 1\n", "Code without an end:"],
  ["```\nonly code\n```", ""],
  ["One.\n\n---\n\nTwo.", "One.\n\n\n\nTwo."],
])("%j", (markdown, text) => {
  expect(spokenText(markdown)).toBe(text);
});
