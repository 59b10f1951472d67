/** Recognizes a reply with status 200 whose body is a JSON object instead of a stream. Some servers report errors in this way. */

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

/** The response with its complete stream. The chunks in `begun` have been read. */
function withBody(response: Response, begun: readonly Uint8Array[], reader: ReadableStreamDefaultReader<Uint8Array>): Response {
  const body = new ReadableStream<Uint8Array>({
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
  return new Response(body, response);
}

/**
 * `fetch` for calls that expect a stream. The first character of the body decides whether it is one, because content types are often wrong:
 * no line of a stream of events begins with a brace.
 */
export async function fetchStream(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  if (!response.ok || response.body === null) return response;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const begun: Uint8Array[] = [];
  for (let text = ""; text.length < longestBody; ) {
    const { done, value } = await reader.read();
    if (value !== undefined) begun.push(value);
    text = Buffer.concat(begun).toString().trimStart();
    if (text !== "" && !text.startsWith("{")) break;
    if (!done && text.length < longestBody) continue;
    if (text === "") break;
    await reader.cancel();
    throw new Unstreamed(text.slice(0, longestBody));
  }
  return withBody(response, begun, reader);
}
