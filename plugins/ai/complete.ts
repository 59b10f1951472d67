/** Answers a single request without tools, such as for the summary of a conversation. */
import { EngineError, type EngineTurn } from "service-gateway/sdk";
import { type RunOptions, runTurn } from "./run.ts";

export async function complete(
  {
    instructions,
    text,
    maxTokens,
  }: { readonly instructions: string; readonly text: string; readonly maxTokens: number },
  by: Pick<EngineTurn, "model" | "fallbacks" | "providers" | "spending" | "room">,
  signal: AbortSignal,
  options: RunOptions,
): Promise<{ readonly text: string; readonly model: string }> {
  const turn = {
    ...by,
    thinking: "off" as const,
    instructions,
    messages: [{ role: "user" as const, text }],
    tools: [],
  };
  let reply = "";
  let model = by.model ?? "";
  for await (const event of runTurn(turn, signal, {
    ...options,
    maxSteps: 1,
    maxOutputTokens: maxTokens,
    whole: true,
  })) {
    if (event.type === "restart") reply = "";
    if (event.type === "text") reply += event.delta;
    if (event.type === "model") model = event.model;
  }
  if (reply.trim() === "") throw new EngineError("model_empty", { detail: `${model} returned an empty text` });
  return { text: reply.trim(), model };
}
