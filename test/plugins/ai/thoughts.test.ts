/** Reasoning in a model's text, whatever the pieces in which it comes. */
import { describe, expect, test } from "vitest";
import { type Piece, Thoughts, type ThoughtsOptions } from "../../../plugins/ai/answer/thoughts.ts";

/** What a reader has at the end, and the text that was shown and taken back. */
function read(pieces: readonly string[], options: ThoughtsOptions = {}) {
  const thoughts = new Thoughts(options);
  let text = "";
  let reasoning = "";
  const take = (piece: Piece) => {
    if (piece.kind === "void") text = reasoning = "";
    else if (piece.kind === "text") text += piece.delta;
    else reasoning += piece.delta;
  };
  for (const delta of pieces) for (const piece of thoughts.read(delta)) take(piece);
  for (const piece of thoughts.end()) take(piece);
  return { text, reasoning };
}

const long = "The person seems annoyed, so I should be kind. ".repeat(12);
const fence = "```";

const separated: readonly [string, string, string, string][] = [
  ["a pair of marks", "<think>Hm.</think>\n\nIt is 42.", "Hm.", "It is 42."],
  ["a pair with another name", "<thinking>\nHm.\n</thinking>\n\nIt is 42.", "\nHm.\n", "It is 42."],
  ["square brackets", "[THINK]Hm.[/THINK]It is 42.", "Hm.", "It is 42."],
  [
    "a closing mark alone",
    "The person seems annoyed.\n</think>\n\nIt is 42.",
    "The person seems annoyed.\n",
    "It is 42.",
  ],
  ["the same behind a long thought", `${long}\n</think>\n\nIt is 42.`, `${long}\n`, "It is 42."],
  ["the same directly behind a sentence", "I should greet.</think>Hello!", "I should greet.", "Hello!"],
  ["the same with a space behind it", "I should greet.</think> Hello!", "I should greet.", "Hello!"],
  ["nothing but a closing mark", "</think>\n\nHello!", "", "Hello!"],
  ["a thought that ends with a colon", "So, the answer:\n</think>\n\n42", "So, the answer:\n", "42"],
  ["Gemma's channel", "<|channel>thought\nHm.\n<channel|>It is 42.", "\nHm.\n", "It is 42."],
  ["Gemma's channel, opened by the prompt", "Hm, let me see.\n<channel|>It is 42.", "Hm, let me see.\n", "It is 42."],
  [
    "harmony",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>It is 42.<|return|>",
    "Hm.",
    "It is 42.",
  ],
  [
    "harmony with several messages",
    "<|start|>assistant<|channel|>analysis<|message|>One " +
      "<b>.<|end|>\n<|start|>assistant<|channel|>commentary to=x " +
      "<|constrain|>json<|message|>{}<|call|><|start|>assistant<|channel|>final<|message|>\nIt is <|x|> " +
      "42.<|end|>",
    "One <b>.{}",
    "It is <|x|> 42.",
  ],
  ["harmony without an answer", "<|channel|>analysis<|message|>Hm.", "Hm.", ""],
  ["marks in other letters", "<THINK>Hm.</Think>\n\nIt is 42.", "Hm.", "It is 42."],
  ["a closing mark alone in other letters", "I should greet.</THINK>Hello!", "I should greet.", "Hello!"],
  ["Reka's marks", "<reasoning>Hm.</reasoning>\nIt is 42.", "Hm.", "It is 42."],
  [
    "Cohere's marks, around the answer too",
    "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>It is 42.<|END_RESPONSE|>",
    "Hm.",
    "It is 42.",
  ],
  ["an answer in marks", "<think>Hm.</think>\n<answer>\nIt is 42. </answ\n</answer>\n", "Hm.", "It is 42. </answ"],
  ["an answer whose mark is not closed", "<think>Hm.</think><answer>It is 42.", "Hm.", "It is 42."],
  [
    "marks of OpenThinker",
    "<|begin_of_thought|>Hm.<|end_of_thought|>\n\n<|begin_of_solution|>It is 42.<|end_of_solution|>",
    "Hm.",
    "It is 42.",
  ],
  ["harmony without its tokens", "analysisWe need 42.assistantfinalIt is 42.", "We need 42.", "It is 42."],
  ["a scratchpad", "<scratchpad>\nHm.\n</scratchpad>\n\nIt is 42.", "\nHm.\n", "It is 42."],
  ["a scratchpad and a response", "<Scratchpad>Hm.</Scratchpad><response>It is 42.</response>", "Hm.", "It is 42."],
  ["an inner monologue", "<inner_monologue>Hm.</inner_monologue>It is 42.", "Hm.", "It is 42."],
  ["an analysis", "<analysis>\nThey seem annoyed.\n</analysis>\n\nIt is 42.", "\nThey seem annoyed.\n", "It is 42."],
  ["an analysis that is cut off", "<analysis>\nThey seem annoyed, so", "\nThey seem annoyed, so", ""],
  ["an analysis behind a thought", "<think>Hm.</think><analysis>So.</analysis>It is 42.", "Hm.So.", "It is 42."],
  ["two thoughts", "<think>one</think> <think>two</think> Three.", "onetwo", "Three."],
  [
    "a closing mark in the answer behind a thought",
    "Hm.\n</think>\n\nThe mark </think> ends it.\n</think>\n",
    "Hm.\n",
    "The mark </think> ends it.\n</think>\n",
  ],
];

const whole: readonly [string, string][] = [
  ["a mark in a sentence", "The mark </think> ends the reasoning of a model."],
  ["a mark at the end of a line", "The reasoning ends with </think>\nand then the answer follows."],
  ["code", "Write `</think>` behind it."],
  ["a block of code", `Like so:\n\n${fence}\nHm.\n</think>\n42\n${fence}\n\nThat is all.`],
  ["a block of code that is not closed", `Like so:\n\n${fence}\nHm.\n</think>\n42`],
  ["a pair in the middle", "A model writes <think>\nHm.\n</think>\nand then the answer."],
  ["an example of a mark", "The tag is written on a line of its own:\n\n</think>\n\nThen the answer follows."],
  ["quotation marks", 'It is called "</think>" and (</think>).'],
  ["a mark that begins a sentence", "Two tags.\n</think> ends the reasoning."],
  ["a long text about marks", `${long}${"The mark </think> ends it. ".repeat(40)}`],
  ["less than a mark", "<thin"],
  ["a word that may begin harmony", "analysisResult is the name of the variable."],
  ["the same word alone", "analysis"],
  ["an answer in marks without reasoning", "<answer>It is 42.</answer>"],
  ["another mark", "<thinker> is no mark"],
  ["harmony in the middle", "It writes <|channel|>analysis<|message|> first."],
  ["leading blanks", "  \n indented"],
  ["an analysis that is the answer", "<analysis>Sales are up.</analysis>"],
  ["the same with lines", "<analysis>\nSales are up.\n</analysis>\n"],
  ["a tag that a sentence begins with", "<analysis> is the name of the element."],
  ["a scratchpad in the middle", "Use <scratchpad>Hm.</scratchpad> for notes."],
];

describe("reasoning at the start of a text is separated, wherever the text is split:", () => {
  const cases: readonly [string, string, { text: string; reasoning: string }][] = [
    ...separated.map(([name, written, reasoning, text]) => [name, written, { reasoning, text }] as const),
    ...whole.map(([name, written]) => [`whole: ${name}`, written, { reasoning: "", text: written }] as const),
  ].map(([name, written, expected]) => [name, written, expected]);
  test.each(cases)("%s", (_, written, expected) => {
    for (const assumed of [false, true]) {
      expect(read([written], { assumed })).toEqual(expected);
      expect(read([...written], { assumed })).toEqual(expected);
      for (let at = 1; at < written.length; at += 1)
        expect(read([written.slice(0, at), written.slice(at)], { assumed })).toEqual(expected);
    }
  });
});

test("a server that sends reasoning apart may leave marks that its prompt asked for, but none alone", () => {
  expect(read([..."<scratchpad>Hm.</scratchpad>It is 42."], { lone: false })).toEqual({
    reasoning: "Hm.",
    text: "It is 42.",
  });
  const alone = "I should greet.</scratchpad>Hello!";
  expect(read([...alone], { lone: false })).toEqual({ reasoning: "", text: alone });
});
