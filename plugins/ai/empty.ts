/** Repeats a model's step once if it ends without text and without a tool call. */
import { EngineError } from "service-gateway/sdk";
import type { ModelPart, ModelStream } from "./library.ts";

type Finish = Extract<ModelPart, { readonly type: "finish" }>;

/** Whether a part is output. Reasoning alone is not an answer. */
function saysSomething(part: ModelPart): boolean {
  if (part.type === "text-delta") return part.delta.trim() !== "";
  return part.type === "tool-call" || part.type === "tool-input-start" || part.type === "file" || part.type === "error";
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);
}

/** Adds the usage of both calls, because both are billed. */
function withUsageOf(first: Finish, second: Finish): Finish {
  const { inputTokens, outputTokens } = second.usage;
  const usage = {
    ...second.usage,
    inputTokens: { ...inputTokens, total: sum(first.usage.inputTokens.total, inputTokens.total) },
    outputTokens: { ...outputTokens, total: sum(first.usage.outputTokens.total, outputTokens.total) },
  };
  return { ...second, usage };
}

export function askedAgainIfEmpty(answer: ModelStream, again: () => Promise<ModelStream>): ModelStream {
  async function* parts(): AsyncGenerator<ModelPart> {
    let spoke = false;
    let empty: Finish | undefined;
    for await (const part of answer.stream) {
      spoke ||= saysSomething(part);
      if (part.type === "finish" && !spoke) empty = part;
      else yield part;
    }
    if (empty === undefined) return;
    try {
      for await (const part of (await again()).stream) {
        // The step has already begun.
        if (part.type === "stream-start") continue;
        yield part.type === "finish" ? withUsageOf(empty, part) : part;
      }
    } catch (error) {
      yield { type: "error", error };
    }
  }
  return { ...answer, stream: ReadableStream.from(parts()) };
}

/** Why the server ended an answer early. */
export const tokensUsedUp = "the model reached its limit of output tokens";

/** The error of a turn that ended with nothing to send. `finish` is the reason that the server gave. */
export function emptyAnswer(model: string, finish: string): EngineError {
  const empty = `${model} returned an empty reply twice`;
  const fail = (detail: string, hint: string) => new EngineError("model_empty", { detail, hint });
  if (finish === "length")
    return fail(
      `${empty}: ${tokensUsedUp} before it wrote an answer`,
      "Raise the limit of that server, think less with /think low, or shorten the conversation with /new.",
    );
  if (finish === "content-filter")
    return fail(`${empty}: its content filter withheld the answer`, "Write the message in other words, or choose another model.");
  return fail(empty, "Send the message again, or choose another model.");
}
