/** `POST /audio/transcriptions`: a sound file as a form, the words in return. */
import { openAsBlob } from "node:fs";
import { EngineError } from "service-gateway/sdk";
import { askSpeech, type SpeechBy } from "./request.ts";

/** Ten minutes of speech have about 10,000 characters; some servers add a list of all words. */
const maxBytes = 4 * 1_048_576;

/** Servers choose the decoder by the ending of the name. */
const endings: Readonly<Record<string, string>> = {
  "audio/ogg": "ogg",
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
  "video/mp4": "mp4",
  "audio/wav": "wav",
  "audio/flac": "flac",
  "audio/webm": "webm",
  "video/webm": "webm",
};

export async function transcribeFile(
  sound: { readonly path: string; readonly mimeType: string; readonly seconds: number },
  by: SpeechBy & { readonly language?: string },
  signal: AbortSignal,
): Promise<string> {
  const [mimeType = ""] = sound.mimeType.split(";", 1);
  const body = new FormData();
  body.append("file", await openAsBlob(sound.path, { type: mimeType }), `voice.${endings[mimeType] ?? "ogg"}`);
  body.append("model", by.model.slice(by.model.indexOf("/") + 1));
  body.append("response_format", "json");
  // Less is invented for silence.
  body.append("temperature", "0");
  if (by.language !== undefined) body.append("language", by.language);
  const { seconds } = sound;
  const response = await askSpeech(by, { path: "audio/transcriptions", body, maxBytes, seconds }, signal);
  return textOf(response.text);
}

function textOf(body: string): string {
  try {
    const { text } = JSON.parse(body) as { readonly text?: unknown };
    if (typeof text === "string") return text;
  } catch {}
  throw new EngineError("model_garbled", {
    detail: "the server answered with something that is not a transcription",
    hint: "Check baseUrl of the provider, which usually ends in /v1.",
  });
}
