/** `POST /audio/speech`: a text, and its sound in return. */
import { askSpeech, type SpeechBy } from "./request.ts";

/** Five minutes of Ogg/Opus have about 2 MB; a server may know only WAV. */
const maxBytes = 20 * 1_048_576;
const defaultVoice = "alloy";

export async function speak(
  { text, seconds }: { readonly text: string; readonly seconds: number },
  by: SpeechBy & { readonly voice?: string },
  signal: AbortSignal,
): Promise<{ readonly data: Uint8Array }> {
  const { voice = defaultVoice } = by;
  const model = by.model.slice(by.model.indexOf("/") + 1);
  const body = JSON.stringify({ model, input: text, voice, response_format: "opus" });
  const headers = { "content-type": "application/json" };
  const response = await askSpeech(by, { path: "audio/speech", headers, body, maxBytes, seconds }, signal);
  return { data: response.bytes };
}
