/** How much of a model's context the parts of a request take. */
import { addSizes, knownTokens, measureText, type TextSizes } from "service-gateway/sdk/tools";
import { fileTokens } from "../attachments.ts";
import type { ModelCall } from "../library.ts";

export type Message = ModelCall["prompt"][number];
type ToolPart = Extract<Message, { readonly role: "tool" }>["content"][number];
export type ToolResult = Extract<ToolPart, { readonly type: "tool-result" }>;

/** What surrounds each message. */
const perMessage = 5;

export function resultText({ output }: ToolResult): string {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "json":
    case "error-json":
      return JSON.stringify(output.value);
    case "content":
      return output.value.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    default:
      return "";
  }
}

function sizesOfPart(part: Exclude<Message["content"], string>[number]): TextSizes {
  switch (part.type) {
    case "text":
    case "reasoning":
      return measureText(part.text);
    case "tool-call":
      return addSizes(measureText(part.toolName), measureText(JSON.stringify(part.input)));
    case "tool-result":
      return addSizes(measureText(part.toolName), measureText(resultText(part)));
    case "file":
      return knownTokens(fileTokens(part));
    default:
      return knownTokens(fileTokens({}));
  }
}

export function sizesOfMessage({ content }: Message): TextSizes {
  const parts = typeof content === "string" ? [measureText(content)] : content.map(sizesOfPart);
  return addSizes(knownTokens(perMessage), ...parts);
}

/** The declarations of tools, as most servers show them to the model. */
export const sizesOfTools = ({ tools = [] }: Pick<ModelCall, "tools">): TextSizes =>
  tools.length === 0 ? knownTokens(0) : measureText(JSON.stringify(tools));
