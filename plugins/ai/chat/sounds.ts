/**
 * Sends sound files of every format. The SDK's client for chat completions knows WAV and MP3 only, and many servers
 * read what phones record, too.
 */
import type { Library, Model } from "../library.ts";

/** By the first bytes of a file. */
const formats: readonly { readonly name: string; readonly at: number; readonly bytes: string }[] = [
  { name: "ogg", at: 0, bytes: "OggS" },
  { name: "flac", at: 0, bytes: "fLaC" },
  { name: "webm", at: 0, bytes: "\x1a\x45\xdf\xa3" },
  { name: "m4a", at: 4, bytes: "ftyp" },
];
const headCharacters = 16;
/** What the client knows; it lets all others pass as MP3. */
const known = /^audio\/(?:wav|mpeg)$/;
const passes = "audio/mpeg";

function formatOf(base64: string): string | undefined {
  const head = Buffer.from(base64.slice(0, headCharacters), "base64").toString("latin1");
  return formats.find(({ at, bytes }) => head.startsWith(bytes, at))?.name;
}

type Body = Record<string, unknown>;

/** Names the true formats in the body of a request. */
export function formatsNamed(body: Body): Body {
  const messages = body.messages as readonly { readonly content?: unknown }[] | undefined;
  return {
    ...body,
    messages: messages?.map((message) =>
      Array.isArray(message.content) ? { ...message, content: message.content.map(partNamed) } : message,
    ),
  };
}

function partNamed(part: { readonly input_audio?: { readonly data: string; readonly format: string } }): unknown {
  const { input_audio: sound } = part;
  return sound === undefined
    ? part
    : { ...part, input_audio: { ...sound, format: formatOf(sound.data) ?? sound.format } };
}

/** The model, sent all sound files. */
export function soundsSent(library: Pick<Library, "wrapLanguageModel">, model: Model): Model {
  return library.wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      transformParams: async ({ params: { prompt, ...params } }) => ({
        ...params,
        prompt: prompt.map((message) =>
          message.role !== "user"
            ? message
            : {
                ...message,
                content: message.content.map((part) =>
                  part.type === "file" && part.mediaType.startsWith("audio/") && !known.test(part.mediaType)
                    ? { ...part, mediaType: passes }
                    : part,
                ),
              },
        ),
      }),
    },
  });
}
