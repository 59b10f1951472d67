import { expect, test } from "vitest";
import {
  addSizes,
  cutMiddle,
  cutToTokens,
  estimateTokens,
  firstMargin,
  learnTokens,
  likelyTokens,
  type ModelRoom,
  measureText,
  usualTokensPer,
} from "../../../core/sdk/contract.ts";
import { tokensIn } from "../../openai-server/counting.ts";

const fresh: ModelRoom = { tokens: 32_000, source: "default", tokensPer: usualTokensPer, margin: firstMargin };

/**
 * Tokens that tokenizers of known models counted in these texts; the last number is of the one that counted most, of
 * GPT-4o, GPT-4, Llama 3, Mistral and Llama 2.
 */
const texts: readonly (readonly [kind: string, text: string, tokens: number])[] = [
  ["English", "The gateway connects chat platforms and webhooks to an AI agent. ", 15],
  ["German", "Die Übersetzung dauert ungefähr zwei Stunden, und danach prüfen wir sie. ", 26],
  ["digits", "48213 77120 ", 12],
  ["a key", "c2VydmljZS1nYXRld2F5LWtleQ== ", 23],
];

test.each(texts)("before anything is known, %s is not estimated too low", (_, text, tokens) => {
  expect(estimateTokens(fresh, measureText(text.repeat(50)))).toBeGreaterThanOrEqual(tokens * 50 * 0.95);
});

test("sizes of texts add up", () => {
  const [one, other] = ["Some words, 12 of them. ", "日本語 and 한국어 ещё раз"];
  const sum = addSizes(measureText(one), measureText(other));
  const both = measureText(one + other);
  expect(Math.abs(likelyTokens(fresh, sum) - likelyTokens(fresh, both))).toBeLessThan(4);
});

test("what a server counts makes estimates exact for its kind of text, and leaves other kinds safe", () => {
  const english = "It was a bright cold day in April, and the clocks were striking thirteen. ";
  let room = fresh;
  for (let turn = 1; turn < 12; turn += 1) {
    const text = english.repeat(turn * 5);
    room = learnTokens(room, measureText(text), tokensIn(text));
  }
  const text = english.repeat(200);
  const real = tokensIn(text);
  expect(Math.abs(likelyTokens(room, measureText(text)) - real) / real).toBeLessThan(0.03);
  expect(estimateTokens(room, measureText(text))).toBeGreaterThanOrEqual(real);
  const chinese = "今天的天气很好，我们一起去海边。".repeat(50);
  expect(likelyTokens(room, measureText(chinese))).toBeGreaterThan(chinese.length * 0.9);
});

test.each([0, 1, -5, 1e300, Number.NaN, Number.POSITIVE_INFINITY])(
  "a count of %d, which no tokenizer gives, teaches nothing",
  (counted) => {
    expect(learnTokens(fresh, measureText("some words of a text ".repeat(100)), counted)).toBe(fresh);
  },
);

test("a server that leaves out what it has cached makes no estimate fall without end", () => {
  const text = "It was a bright cold day in April, and the clocks were striking thirteen. ".repeat(200);
  let room = fresh;
  for (let turn = 0; turn < 50; turn += 1)
    room = learnTokens(room, measureText(text), likelyTokens(room, measureText(text)) * 0.6);
  expect(likelyTokens(room, measureText(text))).toBeGreaterThan(text.length / 16);
});

test("a text is cut in its middle, between whole characters, to what fits", () => {
  const text = `BEGIN ${"🙂".repeat(10_000)} END`;
  const cut = cutMiddle(text, 1_000);
  expect(cut).toMatch(/^BEGIN 🙂+\n\[19,\d{3} characters are left out here\]\n🙂+ END$/u);
  expect(cut.isWellFormed()).toBe(true);
  const fitted = cutToTokens(text, 500, fresh);
  expect(estimateTokens(fresh, measureText(fitted))).toBeLessThanOrEqual(500);
  expect(cutMiddle("short", 1_000)).toBe("short");
});
