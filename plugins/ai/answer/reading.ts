/** Reads one answer of a model: what is shown of it at once, and its parts for the SDK when it is complete. */
import { EngineError } from "service-gateway/sdk";
import type { ModelPart, ModelStream } from "../library.ts";
import { type Live, livePart } from "./live.ts";
import { Pieces } from "./pieces.ts";
import { type Piece, Thoughts, type ThoughtsOptions } from "./thoughts.ts";

export type Finish = Extract<ModelPart, { readonly type: "finish" }>;

/** Longest time that a preview waits to learn whether a text is reasoning. */
const holdMs = 2_000;
/** Longer than any real answer or arguments of a tool; keeps a model that never ends from filling the memory. */
const mostCharacters = 1_000_000;

interface Block {
  readonly kind: "text" | "reasoning";
  readonly pieces: Pieces;
  /** The text of the model that it comes from. */
  readonly source: number;
}

function tooLong(): EngineError {
  return new EngineError("answer_too_long", { detail: "The answer does not end", hint: "Ask for less at once." });
}

export interface ReadingOptions {
  /** How reasoning in the text is found; `undefined`: the text has none. */
  readonly thoughts: ThoughtsOptions | undefined;
  /** The text began with reasoning that has only a closing mark, or it was held to and did not. */
  readonly onLone?: (lone: boolean) => void;
}

export class Reading {
  readonly #options: ReadingOptions;
  readonly #stream: ModelStream["stream"];
  readonly #blocks: Block[] = [];
  /** Whole parts: tool calls, files and others, and what the SDK needs to know of the answer. */
  readonly #parts: ModelPart[] = [];
  #characters = 0;
  #source = 0;
  #text: Thoughts | undefined;
  #hasReasoning = false;
  /** Something of it was shown. */
  hasShown = false;
  /** Why it broke off. */
  error: unknown;
  finish: Finish | undefined;

  constructor(stream: ModelStream["stream"], options: ReadingOptions) {
    this.#stream = stream;
    this.#options = options;
  }

  /** True without text, tool calls and files. Reasoning alone is not an answer. */
  get isEmpty(): boolean {
    const says = this.#blocks.some(({ kind, pieces }) => kind === "text" && !pieces.isBlank);
    return !says && !this.#parts.some(({ type }) => type === "tool-call" || type === "file");
  }

  /** What is shown. Ends at the end of the answer, or when it breaks off. */
  async *shown(): AsyncGenerator<ModelPart> {
    const reader = this.#stream.getReader();
    /** When the held text is shown, however often a piece of it comes. */
    let heldUntil: number | undefined;
    try {
      for (;;) {
        const next = reader.read();
        heldUntil = this.#text?.holds === true ? (heldUntil ?? performance.now() + holdMs) : undefined;
        const held =
          heldUntil === undefined ? await next : await firstOf(next, Math.max(0, heldUntil - performance.now()));
        if (held === "late") yield* this.#say(this.#text?.expire() ?? []);
        const { done, value } = held === "late" ? await next : held;
        if (done) return;
        if (value.type === "error") {
          this.error = value.error;
          return;
        }
        yield* this.#take(value);
      }
    } catch (thrown) {
      this.error = thrown;
    } finally {
      // Also closes the connection, if the answer is not read to its end.
      await reader.cancel().catch(() => undefined);
    }
  }

  /** The parts of the complete answer. */
  *parts(): Generator<ModelPart> {
    for (const [index, { kind, pieces }] of this.#blocks.entries()) {
      const id = `${kind}-${index}`;
      yield { type: `${kind}-start`, id };
      yield { type: `${kind}-delta`, id, delta: pieces.text };
      yield { type: `${kind}-end`, id };
    }
    yield* this.#parts;
    if (this.finish !== undefined) yield this.finish;
  }

  *#take(part: ModelPart): Generator<ModelPart> {
    if ("delta" in part && typeof part.delta === "string") this.#count(part.delta.length);
    switch (part.type) {
      case "text-start":
        this.#source += 1;
        this.#text = this.#newText();
        yield livePart({ type: "paragraph" });
        break;
      case "text-delta":
        yield* this.#text === undefined ? this.#show("text", part.delta) : this.#say(this.#text.read(part.delta));
        break;
      case "text-end":
        yield* this.#endText();
        break;
      case "reasoning-delta":
        this.#hasReasoning = true;
        yield* this.#show("reasoning", part.delta);
        break;
      case "finish":
        this.finish = part;
        break;
      case "stream-start":
      case "raw":
      case "reasoning-start":
      case "reasoning-end":
      case "tool-input-start":
      case "tool-input-delta":
      case "tool-input-end":
        break;
      default:
        this.#parts.push(part);
    }
  }

  #newText(): Thoughts | undefined {
    const { thoughts } = this.#options;
    // A server that sends reasoning apart leaves no closing mark alone.
    return thoughts === undefined
      ? undefined
      : new Thoughts(this.#hasReasoning || this.#source > 1 ? { lone: false } : thoughts);
  }

  *#endText(): Generator<ModelPart> {
    const text = this.#text;
    if (text === undefined) return;
    yield* this.#say(text.end());
    this.#text = undefined;
    if (text.lone !== undefined) this.#options.onLone?.(text.lone);
  }

  *#say(pieces: Iterable<Piece>): Generator<ModelPart> {
    for (const piece of pieces) {
      if (piece.kind !== "void") yield* this.#show(piece.kind, piece.delta);
      else yield* this.#void();
    }
  }

  /** What was shown of the current text is reasoning: the step is shown again without it. */
  *#void(): Generator<ModelPart> {
    const remaining = this.#blocks.filter(({ source }) => source !== this.#source);
    this.#blocks.splice(0, this.#blocks.length, ...remaining);
    yield livePart({ type: "restart", reason: "reasoning_in_text" });
    for (const { kind, pieces } of remaining) {
      if (kind === "text") yield livePart({ type: "paragraph" });
      yield livePart({ type: kind, delta: pieces.text });
    }
    yield livePart({ type: "paragraph" });
  }

  *#show(kind: Block["kind"], delta: string): Generator<ModelPart> {
    if (delta === "") return;
    const last = this.#blocks.at(-1);
    if (last?.kind === kind && last.source === this.#source) last.pieces.add(delta);
    else this.#blocks.push({ kind, pieces: new Pieces(delta), source: this.#source });
    this.hasShown = true;
    const live: Live = { type: kind, delta };
    yield livePart(live);
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > mostCharacters) throw tooLong();
  }
}

/** `late`: the promise was not settled in time. */
async function firstOf<T>(promise: Promise<T>, ms: number): Promise<T | "late"> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(resolve, ms, "late");
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
