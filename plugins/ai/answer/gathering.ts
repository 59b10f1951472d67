/**
 * Joins the pieces of a text that arrive at once: on its way to the reader, a piece of four characters costs as much as
 * a long one.
 */
import { setImmediate as nextLoop } from "node:timers/promises";
import type { ModelPart } from "../library.ts";

type Delta = Extract<ModelPart, { readonly delta: string }>;

const isDelta = (part: ModelPart): part is Delta =>
  "delta" in part && typeof part.delta === "string" && part.providerMetadata === undefined;

/** A part that may grow. */
class Joined {
  readonly first: Delta;
  readonly deltas: string[];

  constructor(first: Delta) {
    this.first = first;
    this.deltas = [first.delta];
  }

  takes(part: ModelPart): part is Delta {
    return isDelta(part) && part.type === this.first.type && part.id === this.first.id;
  }

  get part(): ModelPart {
    return this.deltas.length === 1 ? this.first : { ...this.first, delta: this.deltas.join("") };
  }
}

/** Reads the parts of an answer in batches. */
export class Gathering {
  readonly #reader: ReadableStreamDefaultReader<ModelPart>;
  /** A part that was asked for and had not arrived when the last batch was complete. */
  #next: ReturnType<ReadableStreamDefaultReader<ModelPart>["read"]> | undefined;

  constructor(reader: ReadableStreamDefaultReader<ModelPart>) {
    this.#reader = reader;
  }

  /** The next part, with those that arrive before the event loop does anything else. Empty at the end. */
  async batch(): Promise<readonly ModelPart[]> {
    const gathered: (ModelPart | Joined)[] = [];
    let turn: Promise<undefined> | undefined;
    try {
      for (;;) {
        this.#next ??= this.#reader.read();
        const result = await (turn === undefined ? this.#next : Promise.race([this.#next, turn]));
        if (result === undefined || result.done) break;
        turn ??= nextLoop(undefined);
        this.#next = undefined;
        const last = gathered.at(-1);
        if (last instanceof Joined && last.takes(result.value)) last.deltas.push(result.value.delta);
        else gathered.push(isDelta(result.value) ? new Joined(result.value) : result.value);
      }
    } catch (thrown) {
      // What has arrived before it is passed on first.
      if (gathered.length === 0) throw thrown;
    }
    return gathered.map((one) => (one instanceof Joined ? one.part : one));
  }
}
