/**
 * `fetch` for transforms, with `hooks.transforms.network`: connects to public addresses only. Each connection is
 * checked, including those of redirects.
 */
import { type Dispatcher, interceptors, request } from "undici";
import { reasonOf } from "../contract/index.ts";
import { createPublicAgent } from "../media/public-agent.ts";

interface Outgoing {
  readonly address: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  /** The body as a string with one character for each byte. */
  readonly body: string | null;
}

const maxBytes = 2 * 1_048_576;
const totalMs = 60_000;
const maxRedirections = 3;

const publicAgent = createPublicAgent();

/** Describes the body or the answer that is wanted: no secret, and a redirect to another origin needs it. */
const plainHeaders: ReadonlySet<string> = new Set(["accept", "accept-language", "content-type", "user-agent"]);

/** A module's own headers may have a key, such as `x-api-key`: it belongs to the origin that the module has named. */
function following(agent: Dispatcher, headers: Outgoing["headers"]): Dispatcher {
  const names = headers.map(([name]) => name.toLowerCase()).filter((name) => !plainHeaders.has(name));
  return agent.compose(interceptors.redirect({ maxRedirections, stripHeadersOnCrossOriginRedirect: names }));
}

/** A module can change what its engine makes of a request, so that anything may come. Throws a sentence. */
function checked(outgoing: unknown): Outgoing {
  const { address, method, headers, body } = (outgoing ?? {}) as Readonly<Record<string, unknown>>;
  const isPair = (pair: unknown): boolean =>
    Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string");
  const isRequest =
    typeof address === "string" &&
    typeof method === "string" &&
    Array.isArray(headers) &&
    headers.every(isPair) &&
    (body === null || typeof body === "string");
  if (!isRequest) throw new Error("An address, a method, headers and a body were expected");
  return { address, method, headers, body };
}

/** Sends a request. Resolves with the response or the error as JSON. Never rejects. */
export async function send(outgoing: unknown, agent: Dispatcher = publicAgent): Promise<string> {
  let name = "";
  try {
    const { address, method, headers, body } = checked(outgoing);
    name = ` to ${address.slice(0, 200)}`;
    const url = new URL(address);
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw new Error(`Only http and https addresses can be requested, not ${url.protocol}`);
    const answer = await request(url, {
      dispatcher: following(agent, headers),
      method: method.toUpperCase() as "GET",
      headers: Object.fromEntries(headers),
      body: body === null ? null : Buffer.from(body, "latin1"),
      signal: AbortSignal.timeout(totalMs),
    });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new Error(`The response is larger than ${maxBytes / 1_048_576} MB`);
      chunks.push(chunk);
    }
    const pairs = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as const);
    return JSON.stringify({
      response: {
        status: answer.statusCode,
        statusText: answer.statusText,
        url: url.href,
        headers: pairs,
        body: Buffer.concat(chunks).toString("latin1"),
      },
    });
  } catch (error) {
    return JSON.stringify({ error: `The request${name} failed: ${reasonOf(error)}` });
  }
}
