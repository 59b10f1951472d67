/**
 * The ids of calls of tools. A model that takes over in the middle of a turn reads those of the model before it, and
 * some servers accept only the form of their own, such as nine letters and digits.
 */
import { createHash } from "node:crypto";
import type { Failure } from "./failure.ts";
import type { ModelCall } from "./library.ts";

const speaksOfId = /\b(?:tool[ _]?call[ _]?ids?|tool_use(?:\.|_)id|call_id)\b/i;
const speaksOfForm = /\blength\b|\bpattern\b|must be a-z|\btoo long\b/i;

export function refusesIds({ error, details }: Pick<Failure, "error" | "details">): boolean {
  const text = `${error.message}\n${details ?? ""}`;
  return /^model_(?:refused|failed)$/.test(error.reason) && speaksOfId.test(text) && speaksOfForm.test(text);
}

const shortId = (id: string): string => createHash("sha256").update(id).digest("hex").slice(0, 9);

/** The call with ids that every server accepts. */
export function withShortIds(call: ModelCall): ModelCall {
  const prompt = call.prompt.map((message) => {
    if (message.role !== "assistant" && message.role !== "tool") return message;
    const content = message.content.map((part) =>
      "toolCallId" in part ? { ...part, toolCallId: shortId(part.toolCallId) } : part,
    );
    return { ...message, content } as typeof message;
  });
  return { ...call, prompt };
}
