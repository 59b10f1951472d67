/** Voice messages: imported with the first one. */
import type { EngineDefinition } from "service-gateway/sdk";
import { factsOf } from "../provider.ts";
import type { RunOptions } from "../run.ts";
import { listen } from "./listen.ts";
import { transcribeFile } from "./transcribe.ts";

export { speak } from "./speak.ts";

type Transcribe = NonNullable<EngineDefinition["transcribe"]>;

/** By the endpoint for that, or in a conversation with a model that listens. */
export async function transcribe(
  sound: Parameters<Transcribe>[0],
  by: Parameters<Transcribe>[1],
  signal: AbortSignal,
  options: () => Promise<RunOptions>,
): Promise<string> {
  return factsOf(by.model, by.providers).audio === true
    ? await listen(sound, by, signal, await options())
    : await transcribeFile(sound, by, signal);
}
