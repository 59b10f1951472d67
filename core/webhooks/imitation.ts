/** Finds what imitates a mark of the wrapper, and control tokens of chat templates, in what a text looks like. */
import type { Skeleton } from "./lookalike.ts";

export interface Imitation {
  readonly kind: "marker" | "control_token";
  /** Range in the text as it came. */
  readonly from: number;
  readonly to: number;
}

const word = "externalcontent";
/** Letters of the word that must be there as such; the others may be letters that no table knows. */
const surely = 9;
/** One round bracket is ordinary prose, and no mark. */
const bracketRun = /[<[(]{2,}|[<[]/g;
/** Letters between the brackets and the word: `end` behind a single bracket, `beginning of` behind several. */
const lead = { single: 3, several: 16 } as const;
/** So far from its brackets, white space aside, the word belongs to something else. */
const farthest = 200;

/** Letters that are drawn with digits and signs, or cannot be told apart: an `i` passes for an `l`. */
const drawn: Readonly<Record<string, string>> = {
  i: "l",
  j: "l",
  "|": "l",
  "0": "o",
  "1": "l",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "+": "t",
  "!": "l",
};
const letterOrDigit = /[\p{L}\p{N}]/u;

const tokenNames =
  "s|bos|eos|pad|unk|sys|inst|mask|cls|sep|bos_token|eos_token|system|assistant|user|human|tool|im_start|im_end|start_of_turn|end_of_turn|start_of_image|end_of_image|think|thinking|tool_call|tool_calls|tool_response|tool_result|tool_results|available_tools|function_call|function_calls|function_results|system_prompt|begin_of_text|end_of_text|endoftext|unused[0-9]{1,4}|reserved_special_token_[0-9]{1,4}";
const controlTokens = [
  /<{1,2}\s{0,4}\|[^<>|[\]]{0,100}\|\s{0,4}>{1,2}/g,
  new RegExp(`<{1,2}\\s{0,4}/?\\s{0,4}(?:${tokenNames})\\s{0,4}>{1,2}`, "g"),
  /\[\s{0,4}\/?\s{0,4}(?:inst|sys|bos|eos|think|tool_calls|tool_content|tool_results|available_tools|call_id|args|system_prompt|system message|system|assistant|internal)\s{0,4}\]/g,
];

/** Ordered by where they begin, the longest first; they may overlap. `source` is the text of the skeleton. */
export function findImitations(skeleton: Skeleton, source: string): readonly Imitation[] {
  const found: Imitation[] = [];
  const add = (kind: Imitation["kind"], first: number, last: number): void => {
    found.push({ kind, from: skeleton.from(first), to: skeleton.to(last) });
  };
  for (const match of skeleton.text.matchAll(bracketRun)) {
    const last = markerEnd(skeleton, source, match.index + match[0].length, match[0].length === 1 ? lead.single : lead.several);
    if (last !== undefined) add("marker", match.index, last);
  }
  for (const pattern of controlTokens) {
    for (const match of skeleton.text.matchAll(pattern)) add("control_token", match.index, match.index + match[0].length - 1);
  }
  return found.sort((a, b) => a.from - b.from || b.to - a.to);
}

/** Where an imitated mark ends whose opening brackets end before `start`; `undefined` when there is none. */
function markerEnd(skeleton: Skeleton, source: string, start: number, leading: number): number | undefined {
  const { text } = skeleton;
  const reader = createWordReader(leading);
  // From bracket to bracket, so that all searches together read a text once.
  for (let index = start; index < text.length; ) {
    const code = text.codePointAt(index) ?? 0;
    const read = String.fromCodePoint(code);
    if ("<>[]()".includes(read)) return undefined;
    // An ASCII letter is what it is; what was folded may stand for a letter, or for nothing but an ornament.
    const certain = code < 128 && source.charCodeAt(skeleton.from(index)) < 128;
    const state = reader.read(read, certain);
    index += read.length;
    if (state === "never") return undefined;
    // The closing brackets belong to it, with what stands before them on the line, such as an id.
    if (state === "read") return index - 1 + (/^[^\n<[(]{0,80}?[>\])]+/.exec(text.slice(index, index + 100))?.[0].length ?? 0);
  }
  return undefined;
}

/**
 * Reads characters until the word can be read in them. Keeps for each number of its letters how many of them were
 * surely its own at best: a sign may have been a letter or an ornament, and both are followed.
 */
function createWordReader(leading: number): { read(character: string, certain: boolean): "read" | "never" | undefined } {
  let best = new Int8Array(word.length + 1).fill(-1);
  let next = new Int8Array(word.length + 1);
  best[0] = 0;
  let passed = 0;
  let distance = 0;
  return {
    read(character, certain) {
      const plain = character.length === 1 && character >= "a" && character <= "z";
      if (!plain && drawn[character] === undefined && !letterOrDigit.test(character)) {
        if (character.trim() !== "") distance += 1;
        return undefined;
      }
      const strict = plain && certain;
      distance += 1;
      if (strict) passed += 1;
      advance(best, next, character, strict);
      if (passed > leading || distance > farthest) next[0] = -1;
      else next[0] = 0;
      [best, next] = [next, best];
      if ((best[word.length] ?? -1) >= surely) return "read";
      return best.every(isDead) ? "never" : undefined;
    },
  };
}

const isDead = (count: number): boolean => count < 0;

/** Fills `next` with what can have been read after one more character. */
function advance(best: Int8Array, next: Int8Array, character: string, strict: boolean): void {
  const known = drawn[character];
  const letter = known ?? character;
  const unknown = letter.length > 1 || letter < "a" || letter > "z" || (!strict && known === undefined);
  if (strict) next.fill(-1);
  else next.set(best);
  for (let place = 0; place < word.length; place += 1) {
    const count = best[place] ?? -1;
    if (count < 0) continue;
    if (word[place] === letter) reach(next, place + 1, count + 1);
    else if (unknown && place - count < word.length - surely) reach(next, place + 1, count);
    // Two letters that are drawn as one.
    if (letter === "m" && word.startsWith("rn", place)) reach(next, place + 2, count + 2);
  }
}

function reach(next: Int8Array, place: number, count: number): void {
  if ((next[place] ?? -1) < count) next[place] = count;
}
