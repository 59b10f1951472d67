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

type Metadata = NonNullable<Extract<ModelPart, { readonly type: "reasoning-end" }>["providerMetadata"]>;

interface Block {
  readonly kind: "text" | "reasoning";
  readonly pieces: Pieces;
  /** The text or the thought of the model that it comes from. */
  readonly source: number;
  /** What the server wants to read again in later requests, such as the signature of a thought. */
  metadata?: Metadata;
}

/** In the order of the answer: some servers refuse a thought that is apart from the call that follows it. */
type Item = Block | ModelPart;

const isBlock = (item: Item): item is Block => "pieces" in item;

function tooLong(): EngineError {
  return new EngineError("answer_too_long", { detail: "The answer does not end", hint: "Ask for less at once." });
}

export interface ReadingOptions {
  /** How reasoning in the text is found. */
  readonly thoughts: ThoughtsOptions;
  /** The text began with reasoning that has only a closing mark, or it was held to and did not. */
  readonly onLone?: (lone: boolean) => void;
}

export class Reading {
  readonly #options: ReadingOptions;
  readonly #stream: ModelStream["stream"];
  /** Texts and thoughts; whole parts: tool calls, files and others, and what the SDK needs to know of the answer. */
  readonly #items: Item[] = [];
  #characters = 0;
  #sources = 0;
  #textSource = 0;
  #texts = 0;
  #text: Thoughts | undefined;
  /** The sources of thoughts, by their ids. */
  readonly #thoughts = new Map<string, number>();
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
    return !this.#items.some((item) =>
      isBlock(item) ? item.kind === "text" && !item.pieces.isBlank : item.type === "tool-call" || item.type === "file",
    );
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
    for (const [index, item] of this.#items.entries()) {
      if (!isBlock(item)) {
        yield item;
        continue;
      }
      const { kind, pieces, metadata } = item;
      const id = `${kind}-${index}`;
      yield { type: `${kind}-start`, id, ...(metadata !== undefined && { providerMetadata: metadata }) };
      if (!pieces.isEmpty) yield { type: `${kind}-delta`, id, delta: pieces.text };
      yield { type: `${kind}-end`, id };
    }
    if (this.finish !== undefined) yield this.finish;
  }

  *#take(part: ModelPart): Generator<ModelPart> {
    if ("delta" in part && typeof part.delta === "string") this.#count(part.delta.length);
    switch (part.type) {
      case "text-start":
        this.#texts += 1;
        this.#textSource = this.#newSource();
        this.#text = this.#newText();
        yield livePart({ type: "paragraph" });
        break;
      case "text-delta":
        if (this.#text === undefined) yield* this.#show("text", part.delta, this.#textSource);
        else yield* this.#say(this.#text.read(part.delta));
        break;
      case "text-end":
        yield* this.#endText();
        break;
      case "reasoning-delta":
        this.#hasReasoning ||= part.delta !== "";
        yield* this.#show("reasoning", part.delta, this.#thoughtSource(part.id));
        break;
      case "finish":
        this.finish = part;
        break;
      case "stream-start":
      case "raw":
      case "reasoning-start":
      case "reasoning-end":
        break;
      case "tool-input-start":
      case "tool-input-delta":
      case "tool-input-end":
        break;
      default:
        this.#items.push(part);
    }
    if ("providerMetadata" in part && part.providerMetadata !== undefined) this.#note(part, part.providerMetadata);
  }

  #newSource(): number {
    this.#sources += 1;
    return this.#sources;
  }

  #thoughtSource(id: string): number {
    const known = this.#thoughts.get(id);
    if (known !== undefined) return known;
    const source = this.#newSource();
    this.#thoughts.set(id, source);
    return source;
  }

  /** Keeps what a server says about a text or a thought. A thought may consist of that alone. */
  #note(part: ModelPart, metadata: Metadata): void {
    const [, kind] = /^(text|reasoning)-(?:start|delta|end)$/.exec(part.type) ?? [];
    if (kind === undefined || !("id" in part)) return;
    const source = kind === "text" ? this.#textSource : this.#thoughtSource(part.id ?? "");
    let block = this.#items.findLast((item): item is Block => isBlock(item) && item.source === source);
    if (block === undefined) {
      if (kind === "text") return;
      block = { kind: "reasoning", pieces: new Pieces(), source };
      this.#items.push(block);
    }
    const merged = { ...block.metadata };
    for (const [provider, fields] of Object.entries(metadata)) merged[provider] = { ...merged[provider], ...fields };
    block.metadata = merged;
  }

  #newText(): Thoughts {
    // A server that sends reasoning apart leaves no closing mark alone.
    return new Thoughts(this.#hasReasoning || this.#texts > 1 ? { lone: false } : this.#options.thoughts);
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
      if (piece.kind !== "void") yield* this.#show(piece.kind, piece.delta, this.#textSource);
      else yield* this.#void();
    }
  }

  /** What was shown of the current text is reasoning: the step is shown again without it. */
  *#void(): Generator<ModelPart> {
    const remaining = this.#items.filter((item) => !isBlock(item) || item.source !== this.#textSource);
    this.#items.splice(0, this.#items.length, ...remaining);
    yield livePart({ type: "restart", reason: "reasoning_in_text" });
    for (const { kind, pieces } of remaining.filter(isBlock)) {
      if (kind === "text") yield livePart({ type: "paragraph" });
      yield livePart({ type: kind, delta: pieces.text });
    }
    yield livePart({ type: "paragraph" });
  }

  *#show(kind: Block["kind"], delta: string, source: number): Generator<ModelPart> {
    if (delta === "") return;
    const last = this.#items.at(-1);
    if (last !== undefined && isBlock(last) && last.kind === kind && last.source === source) last.pieces.add(delta);
    else this.#items.push({ kind, pieces: new Pieces(delta), source });
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
