/** Describes an image in words, once, for images that recur. */
import { EngineError, type EngineTurn } from "service-gateway/sdk";
import { type RunOptions, runTurn } from "./run.ts";

const question =
  "Say in one or two short sentences what this sticker shows: figure, gesture, mood, and any words on it. " +
  "Say nothing else.";

/** Describes the image; `undefined` if the model accepts no images. */
export async function describeImage(
  image: { readonly path: string; readonly mimeType: string },
  by: Pick<EngineTurn, "model" | "fallbacks" | "providers">,
  signal: AbortSignal,
  options: RunOptions,
): Promise<string | undefined> {
  if (by.model === undefined) return undefined;
  const turn = {
    ...by,
    thinking: "off" as const,
    instructions: "You describe images.",
    messages: [{ role: "user" as const, text: question, media: [{ kind: "image" as const, ref: "", ...image }] }],
    tools: [],
  };
  let described = "";
  try {
    for await (const event of runTurn(turn, signal, { ...options, maxSteps: 1, needsFiles: true })) {
      if (event.type === "restart") described = "";
      if (event.type === "text") described += event.delta;
    }
  } catch (thrown) {
    if (thrown instanceof EngineError && thrown.reason === "model_takes_no_files") return undefined;
    throw thrown;
  }
  return described;
}
