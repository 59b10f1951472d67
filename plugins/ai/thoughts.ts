/** Separates the reasoning that local servers leave in a model's text, between `<think>` and `</think>`, from its answer. */
import type { Library, Model, ModelPart, ModelStream } from "./library.ts";

const opening = "<think>";
const closing = "</think>";

/** How many characters at the end of the text may begin the tag. */
function begunTag(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) if (text.endsWith(tag.slice(0, length))) return length;
  return 0;
}

/**
 * Reads one text of a model. Only tags at its beginning enclose reasoning. Behind them the answer has begun, and a tag in it is a part of
 * the answer, such as an explanation of these tags.
 */
class Thoughts {
  readonly #id: string;
  readonly #start: ModelPart;
  #state: "undecided" | "thinking" | "answering" = "undecided";
  #pending = "";
  #reasonings = 0;

  constructor(start: Extract<ModelPart, { readonly type: "text-start" }>) {
    this.#id = start.id;
    this.#start = start;
  }

  *read(delta: string): Generator<ModelPart> {
    this.#pending += delta;
    while (this.#pending !== "") {
      if (this.#state === "answering") {
        yield { type: "text-delta", id: this.#id, delta: this.#pending };
        this.#pending = "";
      } else if (this.#state === "thinking") {
        const end = this.#pending.indexOf(closing);
        const length = end === -1 ? this.#pending.length - begunTag(this.#pending, closing) : end;
        if (length > 0) yield { type: "reasoning-delta", id: this.#reasoningId(), delta: this.#pending.slice(0, length) };
        if (end === -1) {
          this.#pending = this.#pending.slice(length);
          return;
        }
        this.#pending = this.#pending.slice(end + closing.length);
        yield* this.#endThought();
      } else {
        const begun = this.#pending.trimStart();
        if (begun.startsWith(opening)) {
          this.#pending = begun.slice(opening.length);
          this.#state = "thinking";
          yield { type: "reasoning-start", id: this.#reasoningId() };
        } else if (opening.startsWith(begun)) return;
        else yield* this.#answer();
      }
    }
  }

  *end(part: ModelPart): Generator<ModelPart> {
    if (this.#state === "thinking") {
      if (this.#pending !== "") yield { type: "reasoning-delta", id: this.#reasoningId(), delta: this.#pending };
      this.#pending = "";
      yield* this.#endThought();
    }
    if (this.#state === "undecided") {
      yield* this.#answer();
      if (this.#pending !== "") yield { type: "text-delta", id: this.#id, delta: this.#pending };
    }
    yield part;
  }

  /** The blank lines between the reasoning and the answer belong to neither. */
  *#answer(): Generator<ModelPart> {
    if (this.#reasonings > 0) this.#pending = this.#pending.trimStart();
    this.#state = "answering";
    yield this.#start;
  }

  *#endThought(): Generator<ModelPart> {
    yield { type: "reasoning-end", id: this.#reasoningId() };
    this.#state = "undecided";
    this.#reasonings += 1;
  }

  #reasoningId(): string {
    return `${this.#id} reasoning ${this.#reasonings}`;
  }
}

async function* apart(stream: ModelStream["stream"]): AsyncGenerator<ModelPart> {
  const texts = new Map<string, Thoughts>();
  for await (const part of stream) {
    const text = "id" in part && part.id !== undefined ? texts.get(part.id) : undefined;
    if (part.type === "text-start") texts.set(part.id, new Thoughts(part));
    else if (part.type === "text-delta" && text !== undefined) yield* text.read(part.delta);
    else if (part.type === "text-end" && text !== undefined) yield* text.end(part);
    else yield part;
  }
}

/** The model with its reasoning apart from its answer. */
export function withThoughtsApart(library: Pick<Library, "wrapLanguageModel">, model: Model): Model {
  return library.wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      async wrapStream({ doStream }) {
        const answer = await doStream();
        return { ...answer, stream: ReadableStream.from(apart(answer.stream)) };
      },
    },
  });
}
