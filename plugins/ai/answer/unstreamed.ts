/**
 * Recognizes a reply with status 200 whose body is a JSON object instead of a stream. Some servers report errors in
 * this way.
 */
import { type BodyReader, beginningOf, exceeded, inLines, longestError, streamBounds } from "./bounded-body.ts";
import { fetchWithin } from "./redirects.ts";

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

/**
 * `fetch` for calls that expect a stream. The first character of the body decides whether it is one, because content
 * types are often wrong: no line of a stream of events begins with a brace. Every body is bounded, whatever its kind.
 */
export async function fetchStream(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const { total } = streamBounds;
  const response = await fetchWithin(input, init, { maxBytes: total, fault: () => exceeded("a reply", total) });
  if (response.body === null) return response;
  if (!response.ok) return new Response(await beginningOf(response.body, longestError), response);
  const reader: BodyReader = response.body.getReader();
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
  return new Response(inLines(begun, reader, streamBounds), response);
}
