/** Reads the bodies of model servers with a bound for each kind, before the SDK collects them: a server may send without end. */
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

function exceeded(what: string, bytes: number): EngineError {
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

/**
 * A body in whole lines. The parser behind it would search an unfinished line again with each chunk of it, and keep it as text; here it is
 * kept as bytes, up to the bound.
 */
export function inLines(body: ReadableStream<Uint8Array>, { line, total }: Bounds): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let begun: Uint8Array[] = [];
  let length = 0;
  let received = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          if (begun.length > 0) controller.enqueue(Buffer.concat(begun));
          begun = [];
          controller.close();
          return;
        }
        received += value.length;
        const end = value.lastIndexOf(newline) + 1;
        const first = end === 0 ? value.length : value.indexOf(newline) + 1;
        const fault = received > total ? exceeded("a reply", total) : length + first > line ? exceeded("a line", line) : undefined;
        if (fault !== undefined) {
          begun = [];
          controller.error(fault);
          await reader.cancel().catch(() => undefined);
          return;
        }
        if (end === 0) {
          begun.push(value);
          length += value.length;
          continue;
        }
        const whole = begun.length === 0 ? value.subarray(0, end) : Buffer.concat([...begun, value.subarray(0, end)]);
        begun = end === value.length ? [] : [value.subarray(end)];
        length = value.length - end;
        controller.enqueue(whole);
        return;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
