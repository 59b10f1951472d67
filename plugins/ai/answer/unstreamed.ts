/** Recognizes a reply with status 200 whose body is a JSON object instead of a stream. Some servers report errors in this way. */

import { beginningOf, inLines, longestError, streamBounds } from "./bounded-body.ts";

/** Longer bodies are cut. The error is at their beginning. */
const longestBody = 65_536;

/** A reply that is not a stream. */
export class Unstreamed extends Error {
  override readonly name = "Unstreamed";
  readonly body: string;

  constructor(body: string) {
    super("The reply is a JSON object instead of a stream.");
    this.body = body;
  }
}

/** A stream of chunks that have been read, and of those that follow. */
function withBegun(begun: readonly Uint8Array[], reader: ReadableStreamDefaultReader<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of begun) controller.enqueue(chunk);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/**
 * `fetch` for calls that expect a stream. The first character of the body decides whether it is one, because content types are often wrong:
 * no line of a stream of events begins with a brace. Every body is bounded, whatever its kind.
 */
export async function fetchStream(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  if (response.body === null) return response;
  if (!response.ok) return new Response(await beginningOf(response.body, longestError), response);
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const begun: Uint8Array[] = [];
  for (let text = "", length = 0; length < longestBody; ) {
    const { done, value } = await reader.read();
    if (value !== undefined) begun.push(value);
    length += value?.length ?? 0;
    text = Buffer.concat(begun).toString().trimStart();
    if (text !== "" && !text.startsWith("{")) break;
    if (!done && length < longestBody) continue;
    if (text === "") break;
    await reader.cancel().catch(() => undefined);
    throw new Unstreamed(text.slice(0, longestBody));
  }
  return new Response(inLines(withBegun(begun, reader), streamBounds), response);
}
