/**
 * Reads the bodies of model servers with a bound for each kind, before the SDK collects them: a server may send without
 * end.
 */
import { setImmediate as nextLoop } from "node:timers/promises";
import { EngineError } from "service-gateway/sdk";

/** What a body may have. */
export interface Bounds {
  /** Bytes of one line. A generated image is one line of a stream. */
  readonly line: number;
  /** Bytes of the whole. */
  readonly total: number;
}

export const streamBounds: Bounds = { line: 12 * 1024 * 1024, total: 32 * 1024 * 1024 };
/** The reason of an error is at its beginning. */
export const longestError = 64 * 1024;

export function exceeded(what: string, bytes: number): EngineError {
  return new EngineError("model_garbled", {
    detail: `The model server sent ${what} of more than ${bytes / (1024 * 1024)} MB`,
    hint: "Look at that server, and at baseUrl of its provider.",
    retryable: true,
  });
}

const newline = 10;

/** The beginning of a body. What follows is not received. */
export async function beginningOf(body: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    while (length < most) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      length += value.length;
    }
  } finally {
    // A connection that is not read to its end is closed.
    await reader.cancel().catch(() => undefined);
  }
  return new Uint8Array(Buffer.concat(chunks).subarray(0, most));
}

export type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

function nextOf(chunks: Iterator<Uint8Array>): { readonly done: false; readonly value: Uint8Array } | undefined {
  const { done, value } = chunks.next();
  return done === true ? undefined : { done: false, value };
}

/** What is passed on at once: the SDK handles all events in it without a pause. */
const mostAtOnce = 4 * 1024;
/** Longest time without a pause, in milliseconds, while a body arrives faster than it is read. */
const mostBusyMs = 5;

/** Collects chunks until their last line is complete. */
class Lines {
  readonly #bounds: Bounds;
  #begun: Uint8Array[] = [];
  #length = 0;
  #received = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** The lines that are complete with this chunk. Throws if the body or a line exceeds its bound. */
  take(chunk: Uint8Array): Uint8Array | undefined {
    const { line, total } = this.#bounds;
    const end = chunk.lastIndexOf(newline) + 1;
    const first = end === 0 ? chunk.length : chunk.indexOf(newline) + 1;
    this.#received += chunk.length;
    if (this.#received > total) throw exceeded("a reply", total);
    if (this.#length + first > line) throw exceeded("a line", line);
    if (end === 0) {
      this.#begun.push(chunk);
      this.#length += chunk.length;
      return undefined;
    }
    const whole =
      this.#begun.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...this.#begun, chunk.subarray(0, end)]);
    // A copy: what follows is short, and would keep the whole chunk.
    this.#begun = end === chunk.length ? [] : [chunk.slice(end)];
    this.#length = chunk.length - end;
    return whole;
  }

  rest(): Uint8Array | undefined {
    return this.#begun.length === 0 ? undefined : Buffer.concat(this.#begun);
  }
}

/**
 * A body in whole lines. The parser that reads it would search an unfinished line again with each chunk, and store it
 * as text; here it is stored as bytes, up to the bound. Long pieces are passed on in parts, with pauses for other work
 * of the process. `begun`: what was read of the body before.
 */
export function inLines(begun: readonly Uint8Array[], reader: BodyReader, bounds: Bounds): ReadableStream<Uint8Array> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const lines = new Lines(bounds);
    let since = performance.now();
    const first = begun.values();
    try {
      for (;;) {
        const { done, value } = nextOf(first) ?? (await reader.read());
        const whole = done ? lines.rest() : lines.take(value);
        for (let at = 0; at < (whole?.length ?? 0); at += mostAtOnce) {
          if (whole !== undefined) yield whole.subarray(at, at + mostAtOnce);
          if (performance.now() - since < mostBusyMs) continue;
          await nextLoop();
          since = performance.now();
        }
        if (done) return;
        if (performance.now() - since < mostBusyMs) continue;
        await nextLoop();
        since = performance.now();
      }
    } finally {
      // A connection that is not read to its end is closed.
      await reader.cancel().catch(() => undefined);
    }
  }
  return ReadableStream.from(pieces());
}
