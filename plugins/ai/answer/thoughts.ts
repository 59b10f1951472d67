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

interface Mark {
  readonly opening: string;
  readonly closing: string;
}

/**
 * The marks of Qwen, DeepSeek and others, of prompts for Claude, of Gemini and EXAONE, Magistral, Seed, Kimi, and
 * Gemma.
 */
const marks: readonly Mark[] = [
  { opening: "<think>", closing: "</think>" },
  { opening: "<thinking>", closing: "</thinking>" },
  { opening: "<thought>", closing: "</thought>" },
  { opening: "[THINK]", closing: "[/THINK]" },
  { opening: "<seed:think>", closing: "</seed:think>" },
  { opening: "◁think▷", closing: "◁/think▷" },
  { opening: "<|channel>thought", closing: "<channel|>" },
];
const closings = marks.map(({ closing }) => closing);

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
  return wanted
    .map((mark) => ({ mark, at: text.indexOf(mark, from) }))
    .filter(({ at }) => at !== -1)
    .toSorted((one, other) => one.at - other.at)[0];
}

/** How many characters at the end of the text may begin one of the marks. */
function begunMark(text: string, of: readonly string[]): number {
  const longest = Math.max(...of.map(({ length }) => length));
  for (let length = Math.min(longest - 1, text.length); length > 0; length -= 1) {
    const end = text.slice(-length);
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
      else yield* this.#say();
    }
  }

  *#begin(ending: Ending): Generator<Piece> {
    const begun = this.#pending.trimStart();
    const mark = marks.find(({ opening }) => begun.startsWith(opening));
    if (mark !== undefined) {
      this.#pending = begun.slice(mark.opening.length);
      this.#closing = mark.closing;
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
    const mayBegin = channel === "perhaps" || marks.some(({ opening }) => opening.startsWith(begun));
    if (mayBegin && ending === "more" && this.#pending.length < longestBeginning) return;
    // The blank lines between the reasoning and the answer belong to neither.
    if (this.#thoughts > 0) this.#pending = begun;
    const searches = this.#thoughts === 0 && this.#options.lone !== false;
    this.#state = !searches ? "answer" : this.#options.assumed === true ? "assumed" : "unsure";
  }

  *#think(ending: Ending): Generator<Piece> {
    const end = this.#pending.indexOf(this.#closing);
    const heldBack = end === -1 && ending === "more" ? begunMark(this.#pending, [this.#closing]) : 0;
    const length = end === -1 ? this.#pending.length - heldBack : end;
    if (length > 0) yield { kind: "reasoning", delta: this.#pending.slice(0, length) };
    this.#pending = this.#pending.slice(end === -1 ? length : end + this.#closing.length);
    if (end === -1) return;
    this.#thoughts += 1;
    this.#state = "beginning";
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

  *#say(): Generator<Piece> {
    if (this.#pending !== "") yield { kind: "text", delta: this.#pending };
    this.#pending = "";
  }
}
