/**
 * Finds the images that a model generates. Servers that offer them through chat completions put them beside the text of
 * a chunk (https://openrouter.ai/docs/features/multimodal/image-generation, which LiteLLM follows); the SDK's client
 * reads the text alone.
 */
import type { TurnEvent } from "service-gateway/sdk";
import type { Library, Model, ModelPart, ModelStream } from "../library.ts";

type FilePart = Extract<ModelPart, { readonly type: "file" }>;
type Media = Extract<TurnEvent, { readonly type: "media" }>["media"];

/**
 * A file that is given by its address travels as a list of addresses: the SDK would fetch it without the gateway's
 * checks.
 */
const addressType = "text/uri-list";

function fileAt(url: string): FilePart | undefined {
  const [, mediaType = "", data] = /^data:([\w.+-]+\/[\w.+-]+);base64,([A-Za-z0-9+/]+=*)$/.exec(url) ?? [];
  if (data !== undefined) return { type: "file", mediaType, data: { type: "data", data } };
  return /^https?:\/\//.test(url) ? addressOf(url) : undefined;
}

function addressOf(url: string): FilePart {
  return { type: "file", mediaType: addressType, data: { type: "data", data: Buffer.from(url).toString("base64") } };
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null;
}

/** The addresses in a chunk, most of which are `data:` addresses. */
function imagesIn(chunk: unknown): readonly string[] {
  const choice: unknown = isObject(chunk) && Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
  const delta = isObject(choice) ? (choice.delta ?? choice.message) : undefined;
  const images = isObject(delta) && Array.isArray(delta.images) ? delta.images : [];
  return images.flatMap((image: unknown) => {
    const at = isObject(image) ? (image.image_url ?? image.url) : image;
    const url = isObject(at) ? at.url : at;
    return typeof url === "string" ? [url] : [];
  });
}

async function* found(stream: ModelStream["stream"]): AsyncGenerator<ModelPart> {
  // Some servers repeat all images in their last chunk.
  const seen = new Set<string>();
  for await (const part of stream) {
    if (part.type === "file" && part.data.type === "url") yield addressOf(part.data.url.toString());
    else if (part.type !== "raw") yield part;
    else
      for (const url of imagesIn(part.rawValue)) {
        const file = seen.has(url) ? undefined : fileAt(url);
        seen.add(url);
        if (file !== undefined) yield file;
      }
  }
}

/** The model with its generated images as file parts. */
export function withImages(library: Pick<Library, "wrapLanguageModel">, model: Model): Model {
  return library.wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      transformParams: async ({ params }) => ({ ...params, includeRawChunks: true }),
      async wrapStream({ doStream }) {
        const answer = await doStream();
        return { ...answer, stream: ReadableStream.from(found(answer.stream)) };
      },
    },
  });
}

/** A generated file, as the gateway sends it. */
export function generatedMedia({ mediaType, base64 }: { readonly mediaType: string; readonly base64: string }): Media {
  if (mediaType === addressType) return { url: Buffer.from(base64, "base64").toString() };
  return { data: base64, mimeType: mediaType };
}
