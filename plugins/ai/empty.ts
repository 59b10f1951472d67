/** Answers without text and without a tool call: such a step is repeated once. */
import { EngineError } from "service-gateway/sdk";
import type { Finish } from "./answer/reading.ts";

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);
}

/** Adds the usage of both calls, because both are billed. */
export function withUsageOf(first: Finish, second: Finish): Finish {
  const { inputTokens, outputTokens } = second.usage;
  const usage = {
    ...second.usage,
    inputTokens: { ...inputTokens, total: sum(first.usage.inputTokens.total, inputTokens.total) },
    outputTokens: { ...outputTokens, total: sum(first.usage.outputTokens.total, outputTokens.total) },
  };
  return { ...second, usage };
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
    return fail(
      `${empty}: its content filter withheld the answer`,
      "Write the message in other words, or choose another model.",
    );
  return fail(empty, "Send the message again, or choose another model.");
}
