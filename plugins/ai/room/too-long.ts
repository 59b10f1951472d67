/**
 * Recognizes a refusal of a request that is too long, and the size of the context that it names. Servers say it in
 * their own words; some repeat the request, and a person may have quoted such words in it.
 */
import type { ModelCall } from "../library.ts";

/** How a refusal for length is worded, by the servers that were looked at. */
const saysTooLong =
  /context.{0,20}(?:length|window|size|limit)|too many tokens|maximum.{0,20}tokens|tokens.{0,40}(?:exceed|maximum)|(?:prompt|input|request|message)s?.{0,30}too (?:long|large)|input token count|maximum prompt length|reduce the length|current length is \d+ while limit|total number of tokens/i;

export const isTooLong = (refusal: string): boolean => saysTooLong.test(refusal);

const number = String.raw`(\d[\d,._]*)`;
/** Where the size stands. The first that fits is taken. */
const sizes: readonly RegExp[] = [
  // Anthropic: what was sent, then the maximum.
  new RegExp(String.raw`(?:tokens|\d)\s*>\s*${number}`, "i"),
  // OpenAI, Azure, vLLM, DeepSeek, Mistral, OpenRouter, Fireworks, llama.cpp, LM Studio.
  new RegExp(String.raw`(?:maximum )?context (?:length|window|size|limit)(?: is| of| only|:|=|\s|\()*${number}`, "i"),
  // xAI, Google.
  new RegExp(String.raw`maximum prompt length(?: is| of|:|\s)*${number}`, "i"),
  new RegExp(String.raw`maximum number of (?:input )?tokens allowed(?: is|:|\s|\()*${number}`, "i"),
  new RegExp(`${number} maximum context length`, "i"),
  // Text Generation Inference, Together, Cohere, Cerebras.
  new RegExp(String.raw`must be\s*(?:<=?|less than or equal to|at most)\s*${number}`, "i"),
  new RegExp(String.raw`cannot exceed\s*${number}`, "i"),
  new RegExp(String.raw`while limit is\s*${number}`, "i"),
  new RegExp(String.raw`\bn_ctx\D{0,4}${number}`, "i"),
  new RegExp(String.raw`\b(?:limit|maximum)(?: is| of|:|\s)*${number} tokens`, "i"),
];

const leastRoom = 256;
const mostRoom = 100_000_000;

/** The size that a refusal names, in tokens. */
export function namedRoom(refusal: string): number | undefined {
  for (const size of sizes) {
    const [, found] = size.exec(refusal) ?? [];
    const tokens = found === undefined ? Number.NaN : Number(found.replace(/[,._]/g, ""));
    if (Number.isInteger(tokens) && tokens >= leastRoom && tokens <= mostRoom) return tokens;
  }
  return undefined;
}

/** Shorter passages are words of every refusal. */
const quotation = 20;

/** Whether the request itself contains the words by which a refusal is recognized. */
export function isQuoted(refusal: string, { prompt }: Pick<ModelCall, "prompt">): boolean {
  const [words] = saysTooLong.exec(refusal) ?? [];
  if (words === undefined) return false;
  const at = refusal.indexOf(words);
  const passage = refusal.slice(Math.max(0, at - quotation), at + words.length + quotation).trim();
  return prompt.some(
    ({ content }) =>
      typeof content !== "string" && content.some((part) => part.type === "text" && part.text.includes(passage)),
  );
}
