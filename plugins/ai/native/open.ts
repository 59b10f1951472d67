/** Opens a model in its vendor's own protocol. */
import type { Thinking } from "service-gateway/sdk";
import type { Address } from "../address.ts";
import { fetchStream } from "../answer/unstreamed.ts";
import { withRoundedNumbers } from "../exact-numbers.ts";
import type { Library, Model, ModelPart, ModelStream } from "../library.ts";
import { nativeCall } from "./call.ts";
import type { Natives, Vendor } from "./packages.ts";

/** The headers in which the packages send a key. Without one they are left out: some servers need none. */
const keyHeaders = ["authorization", "x-api-key", "x-goog-api-key"] as const;

function fetchAt({ queryParams }: Pick<Address, "queryParams">): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    for (const [name, value] of Object.entries(queryParams)) url.searchParams.set(name, value);
    const headers = new Headers(init?.headers);
    for (const name of keyHeaders) if (/^(?:Bearer)?\s*$/.test(headers.get(name) ?? "")) headers.delete(name);
    return await fetchStream(url, { ...init, headers });
  };
}

/** An error within a stream, in the form of an answer with its status. */
class StreamFault extends Error {
  override readonly name = "AI_APICallError";
  readonly statusCode: number;
  readonly responseBody: string;

  constructor(message: string, statusCode: number) {
    super(message);
    this.statusCode = statusCode;
    this.responseBody = JSON.stringify({ error: { message } });
  }
}

/** The stream ended before the answer did. */
class EndedEarly extends Error {
  override readonly name = "AI_InvalidResponseDataError";
}

function faultOf(error: unknown): unknown {
  if (typeof error !== "object" || error === null || error instanceof Error) return error;
  const { message, statusCode } = error as { readonly message?: unknown; readonly statusCode?: unknown };
  return typeof message === "string" && typeof statusCode === "number" ? new StreamFault(message, statusCode) : error;
}

/** The packages report an answer that was cut as one that has ended. */
async function* complete(stream: ModelStream["stream"], vendor: Vendor): AsyncGenerator<ModelPart> {
  let ended = false;
  for await (const part of stream) {
    // What the packages add for programs that show the answers of one vendor.
    if (part.type === "raw" || part.type === "custom") continue;
    if (part.type === "error") yield { type: "error", error: faultOf(part.error) };
    // Google's protocol has no other numbers than doubles.
    else if (part.type !== "finish") yield vendor === "google" ? withRoundedNumbers(part) : part;
    else if (part.finishReason.unified === "interrupted") break;
    else {
      ended = true;
      yield part;
    }
  }
  if (!ended) yield { type: "error", error: new EndedEarly("the stream ended early") };
}

function create({ vendor, natives, address, modelId }: NativeOptions): Model | undefined {
  const { baseURL, apiKey = "", headers } = address;
  const options = { baseURL, apiKey, headers, fetch: fetchAt(address) };
  // Each package has a type of its own.
  if (vendor === "anthropic") return natives.anthropic?.(options)(modelId);
  if (vendor === "google") return natives.google?.(options)(modelId);
  return natives.openai?.(options)(modelId);
}

export interface NativeOptions {
  readonly vendor: Vendor;
  readonly natives: Natives;
  readonly address: Address;
  readonly modelId: string;
}

/** `undefined` if the package of the vendor is not installed. */
export function openNative(
  library: Pick<Library, "wrapLanguageModel">,
  options: NativeOptions,
  request: { readonly thinking: Thinking; readonly marks: boolean; readonly without: ReadonlySet<string> },
): Model | undefined {
  const model = create(options);
  if (model === undefined) return undefined;
  const { vendor } = options;
  return library.wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      transformParams: async ({ params }) => nativeCall(params, { vendor, ...request }),
      async wrapStream({ doStream }) {
        const answer = await doStream();
        return { ...answer, stream: ReadableStream.from(complete(answer.stream, vendor)) };
      },
    },
  });
}
