/**
 * Separates the reasoning that local servers leave in a model's text from its answer. This is the one place that knows
 * their marks: pairs such as `<think>` and `</think>`, Gemma's and harmony's channels, and a closing mark alone, whose
 * opening one is in the prompt.
 *
 * Only marks at the beginning of a text enclose reasoning. A closing mark alone is one if it stands where a thought
 * ends, outside code. The result does not depend on where the text is cut into pieces.
 */
import { type ChannelPiece, Channels, startsChannel } from "./channels.ts";
import { type Ending, judgeClosing } from "./closing-mark.ts";
import { Pieces } from "./pieces.ts";

/** A piece of a text. `void`: the text so far is not an answer; the reasoning in it follows. */
export type Piece = { readonly kind: "text" | "reasoning"; readonly delta: string } | { readonly kind: "void" };

/** Compared without regard to case, in lower case. */
interface Mark {
  readonly opening: string;
  readonly closing: string;
  /** How the text begins, if the mark may be ordinary words. Such a text needs the closing mark, too. */
  readonly begins?: RegExp;
  /** Such a text also needs an answer behind the closing mark. */
  readonly needsAnswer?: true;
}

const pair = (name: string): Mark => ({ opening: `<${name}>`, closing: `</${name}>` });

/**
 * The marks of Qwen, DeepSeek and others, of prompts for Claude, of Gemini and EXAONE, Reka, Magistral, Seed, Kimi,
 * Gemma, Cohere and OpenThinker, names that prompts ask models to use, and the mark of gpt-oss where a server has
 * removed the tokens of its channels.
 */
const marks: readonly Mark[] = [
  ...["think", "thinking", "thought", "reasoning"].map(pair),
  { opening: "[think]", closing: "[/think]" },
  { opening: "<seed:think>", closing: "</seed:think>" },
  { opening: "◁think▷", closing: "◁/think▷" },
  { opening: "<|channel>thought", closing: "<channel|>" },
  { opening: "<|start_thinking|>", closing: "<|end_thinking|>" },
  { opening: "<|begin_of_thought|>", closing: "<|end_of_thought|>" },
  { opening: "analysis", closing: "assistantfinal", begins: /^analysis\p{Lu}/u },
  ...["scratchpad", "scratch_pad", "inner_monologue", "internal_monologue", "thought_process"].map(pair),
  // Also names of what a person may have asked for.
  ...["analysis", "reflection"].map((name): Mark => ({ ...pair(name), begins: /^</, needsAnswer: true })),
];
/** What encloses an answer behind reasoning. */
const answerMarks: readonly Mark[] = [
  ...["answer", "final_answer", "response", "output"].map(pair),
  { opening: "<|start_response|>", closing: "<|end_response|>" },
  { opening: "<|begin_of_solution|>", closing: "<|end_of_solution|>" },
];
/** Those that are marks also without an opening one. */
const closings = marks.flatMap(({ closing, begins }) => (begins === undefined ? [closing] : []));
/** Of the same length as the text. */
const lower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

const longestMark = Math.max(...[...marks, ...answerMarks].map(({ opening }) => opening.length));

/** A preview waits for so many characters before it shows a text that may turn out to be reasoning. */
const heldCharacters = 200;

/** A text with more closing marks that are text is about them. */
const mostJudged = 20;
/** Longer than any mark with the space before it. */
const longestBeginning = 4_096;

function firstOf(
  text: string,
  wanted: readonly string[],
  from: number,
): { readonly mark: string; readonly at: number } | undefined {
  const searched = lower(text);
  return wanted
    .map((mark) => ({ mark, at: searched.indexOf(mark, from) }))
    .filter(({ at }) => at !== -1)
    .toSorted((one, other) => one.at - other.at)[0];
}

/** How many characters at the end of the text may begin one of the marks. */
function begunMark(text: string, of: readonly string[]): number {
  const longest = Math.max(...of.map(({ length }) => length));
  for (let length = Math.min(longest - 1, text.length); length > 0; length -= 1) {
    const end = lower(text.slice(-length));
    if (of.some((mark) => mark.length > length && mark.startsWith(end))) return length;
  }
  return 0;
}

type State = "beginning" | "thought" | "channels" | "unsure" | "assumed" | "answer";

export interface ThoughtsOptions {
  /** False: a closing mark alone is text, because the server has sent the reasoning apart. */
  readonly lone?: boolean;
  /**
   * The model's earlier texts began with reasoning that has only a closing mark, so this one is held to be reasoning
   * until there is one.
   */
  readonly assumed?: boolean;
}

/** Reads one text of a model. */
export class Thoughts {
  readonly #options: ThoughtsOptions;
  #state: State = "beginning";
  /** What is not decided. */
  #pending = "";
  /** The text before it, in the states `unsure` and `assumed`. */
  readonly #head = new Pieces();
  #length = 0;
  /** The end of it that has not been passed on. */
  #unshown = "";
  #hasShown = false;
  /** How many closing marks were text. */
  #judged = 0;
  #closing = "";
  /** The text so far, if its opening mark may be ordinary words. */
  #mayBeWords: Pieces | undefined;
  #needsAnswer = false;
  /** Of the mark that encloses the answer. */
  #answerEnd: string | undefined;
  #thoughts = 0;
  #expired = false;
  #channels: Channels | undefined;
  #lone: boolean | undefined;

  constructor(options: ThoughtsOptions = {}) {
    this.#options = options;
  }

  /** Whether a text is held back that `expire` would show. */
  get holds(): boolean {
    return this.#state === "unsure" && !this.#expired && !this.#hasShown && this.#unshown.trim() !== "";
  }

  /**
   * After the end: whether the text began with reasoning that has only a closing mark; `undefined` if it had marks of
   * another kind.
   */
  get lone(): boolean | undefined {
    return this.#lone;
  }

  *read(delta: string): Generator<Piece> {
    this.#pending += delta;
    yield* this.#go("more");
  }

  /** The held text is shown, although it may turn out to be reasoning. */
  *expire(): Generator<Piece> {
    this.#expired = true;
    yield* this.#go("more");
  }

  *end(): Generator<Piece> {
    yield* this.#go("over");
  }

  *#go(ending: Ending): Generator<Piece> {
    for (let before: State | undefined; before !== this.#state; ) {
      before = this.#state;
      if (this.#state === "beginning") yield* this.#begin(ending);
      else if (this.#state === "thought") yield* this.#think(ending);
      else if (this.#state === "channels") yield* this.#readChannels(ending);
      else if (this.#state === "unsure" || this.#state === "assumed") yield* this.#search(ending);
      else yield* this.#say(ending);
    }
  }

  *#begin(ending: Ending): Generator<Piece> {
    const begun = this.#pending.trimStart();
    if (begun === "" && ending === "over" && this.#needsAnswer) {
      this.#mayBeWords?.add(this.#pending);
      yield* this.#takeBack();
      return;
    }
    const start = lower(begun.slice(0, longestMark));
    const mark = marks.find(
      ({ opening, begins }) => start.startsWith(opening) && (begins === undefined || begins.test(begun)),
    );
    if (mark !== undefined) {
      this.#pending = begun.slice(mark.opening.length);
      this.#closing = mark.closing;
      this.#mayBeWords = mark.begins === undefined ? undefined : new Pieces();
      this.#mayBeWords?.add(begun.slice(0, mark.opening.length));
      this.#needsAnswer = mark.needsAnswer === true;
      this.#state = "thought";
      return;
    }
    const channel = startsChannel(begun);
    if (channel === "yes") {
      this.#channels = new Channels();
      this.#pending = begun;
      this.#state = "channels";
      return;
    }
    const possible = this.#thoughts > 0 ? [...marks, ...answerMarks] : marks;
    const mayBegin = channel === "perhaps" || possible.some(({ opening }) => opening.startsWith(lower(begun)));
    if (mayBegin && ending === "more" && this.#pending.length < longestBeginning) return;
    // The blank lines between the reasoning and the answer belong to neither.
    if (this.#thoughts > 0) this.#pending = this.#unwrapped(begun, start);
    const searches = this.#thoughts === 0 && this.#options.lone !== false;
    this.#state = !searches ? "answer" : this.#options.assumed === true ? "assumed" : "unsure";
  }

  /** The answer behind reasoning, without the mark that encloses it. */
  #unwrapped(begun: string, start: string): string {
    const mark = answerMarks.find(({ opening }) => start.startsWith(opening));
    if (mark === undefined) return begun;
    this.#answerEnd = mark.closing;
    return begun.slice(mark.opening.length).trimStart();
  }

  *#think(ending: Ending): Generator<Piece> {
    const end = lower(this.#pending).indexOf(this.#closing);
    const heldBack = end === -1 && ending === "more" ? begunMark(this.#pending, [this.#closing]) : 0;
    const length = end === -1 ? this.#pending.length - heldBack : end;
    this.#mayBeWords?.add(this.#pending.slice(0, end === -1 ? length : end + this.#closing.length));
    if (end === -1 && ending === "over" && this.#mayBeWords !== undefined && !this.#isCutOff(this.#mayBeWords.text)) {
      yield* this.#takeBack();
      return;
    }
    if (length > 0) yield { kind: "reasoning", delta: this.#pending.slice(0, length) };
    this.#pending = this.#pending.slice(end === -1 ? length : end + this.#closing.length);
    if (end === -1) return;
    this.#thoughts += 1;
    this.#state = "beginning";
  }

  /** The mark was a part of the answer. */
  *#takeBack(): Generator<Piece> {
    yield { kind: "void" };
    yield { kind: "text", delta: this.#mayBeWords?.text ?? "" };
    this.#pending = "";
    this.#needsAnswer = false;
  }

  /** A mark on a line of its own begins reasoning. Without a closing mark, the reasoning was cut off. */
  #isCutOff(text: string): boolean {
    return this.#needsAnswer && /^<\w+>[ \t]*\r?\n/.test(text);
  }

  *#readChannels(ending: Ending): Generator<Piece> {
    const pieces: readonly ChannelPiece[] = this.#channels?.read(this.#pending, ending) ?? [];
    this.#pending = "";
    for (const piece of pieces) {
      if (piece.kind !== "rest") yield piece;
      else {
        this.#pending = piece.delta;
        this.#thoughts += 1;
        this.#state = "beginning";
      }
    }
  }

  /**
   * Looks for a closing mark whose opening one the model was given. Until there is one, the text is shown, or held to
   * be reasoning.
   */
  *#search(ending: Ending): Generator<Piece> {
    const text = this.#pending;
    let certain = text.length - (ending === "more" ? begunMark(text, closings) : 0);
    for (let from = 0; this.#judged < mostJudged; ) {
      const found = firstOf(text, closings, from);
      if (found === undefined) break;
      const { mark: closing, at } = found;
      const opening = marks.find((mark) => mark.closing === closing)?.opening ?? "";
      const next = at + closing.length;
      const before = this.#head.text + text.slice(0, at);
      const verdict = judgeClosing({ before, after: text.slice(next), opening, ending });
      if (verdict === "unknown") {
        certain = at;
        break;
      }
      if (verdict === "mark") {
        yield* this.#endLone(before, next);
        return;
      }
      this.#judged += 1;
      from = next;
    }
    yield* this.#advance(certain, ending);
  }

  /** Passes on what is certain. */
  *#advance(certain: number, ending: Ending): Generator<Piece> {
    const passed = this.#pending.slice(0, certain);
    this.#pending = this.#pending.slice(certain);
    this.#head.add(passed);
    this.#length += passed.length;
    this.#unshown += passed;
    if (this.#state === "assumed" && ending === "over") {
      // There was no reasoning after all.
      this.#lone = false;
      if (this.#hasShown) yield { kind: "void" };
      this.#unshown = this.#head.text;
    } else if (this.#state === "unsure" && ending === "more" && !this.#expired && this.#length < heldCharacters) return;
    if (this.#unshown === "") return;
    yield { kind: this.#state === "assumed" && ending === "more" ? "reasoning" : "text", delta: this.#unshown };
    this.#unshown = "";
    this.#hasShown = true;
  }

  /** The text before a closing mark alone is reasoning. */
  *#endLone(before: string, next: number): Generator<Piece> {
    const wasAssumed = this.#state === "assumed";
    if (!wasAssumed && this.#hasShown) yield { kind: "void" };
    const thought = wasAssumed ? before.slice(this.#length - this.#unshown.length) : before;
    if (thought !== "") yield { kind: "reasoning", delta: thought };
    this.#lone = true;
    this.#thoughts += 1;
    this.#pending = this.#pending.slice(next);
    this.#state = "beginning";
  }

  *#say(ending: Ending): Generator<Piece> {
    const text = this.#pending;
    let length = text.length;
    if (this.#answerEnd !== undefined) {
      // The mark and the space around it are held back, because only the last one ends the answer.
      const enclosed = lower(text).trimEnd();
      const isEnded = enclosed.endsWith(this.#answerEnd);
      const begun = isEnded ? this.#answerEnd.length : ending === "more" ? begunMark(enclosed, [this.#answerEnd]) : 0;
      if (begun > 0) length = enclosed.slice(0, -begun).trimEnd().length;
      else if (ending === "more") length = enclosed.length;
      if (ending === "over" && isEnded) this.#pending = text.slice(0, length);
    }
    if (length > 0) yield { kind: "text", delta: this.#pending.slice(0, length) };
    this.#pending = this.#pending.slice(length);
  }
}
