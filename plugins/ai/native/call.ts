/** What a request in a vendor's own protocol differs in: reasoning, marks for its cache, files that it takes. */
import type { Thinking } from "service-gateway/sdk";
import { unseenFile } from "../attachments.ts";
import type { ModelCall } from "../library.ts";
import type { Vendor } from "./packages.ts";

export interface NativeRequest {
  readonly vendor: Vendor;
  readonly thinking: Thinking;
  /** Whether the request marks what the vendor may cache. */
  readonly marks: boolean;
  /** Optional fields that the server does not know. */
  readonly without: ReadonlySet<string>;
}

type Message = ModelCall["prompt"][number];
type Tools = NonNullable<ModelCall["tools"]>;

/** Files that the packages refuse before they ask the server. */
const taken: Readonly<Record<Vendor, RegExp>> = {
  anthropic: /^(?:image\/|application\/pdf$|text\/plain$)/,
  openai: /^(?:image\/|application\/pdf$)/,
  google: /./,
};

const mark = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;

function withMark<T extends { readonly providerOptions?: ModelCall["providerOptions"] }>(one: T): T {
  return { ...one, providerOptions: { ...one.providerOptions, ...mark } };
}

function withoutUntaken(message: Message, vendor: Vendor): Message {
  if (message.role !== "user") return message;
  const content = message.content.map((part) =>
    part.type === "file" && !taken[vendor].test(part.mediaType)
      ? { type: "text" as const, text: unseenFile(part.mediaType) }
      : part,
  );
  return { ...message, content };
}

/** The instructions and the last message; the tools before the instructions are marked by the last of them. */
function markedPrompt(prompt: ModelCall["prompt"]): ModelCall["prompt"] {
  const places = new Set([prompt.findLastIndex(({ role }) => role === "system"), prompt.length - 1]);
  return prompt.map((message, index) => (places.has(index) ? withMark(message) : message));
}

const markedTools = (tools: Tools): Tools =>
  tools.map((tool, index) => (tool.type === "function" && index === tools.length - 1 ? withMark(tool) : tool));

export function nativeCall(
  { prompt, tools, toolChoice, ...call }: ModelCall,
  { vendor, thinking, marks: wanted, without }: NativeRequest,
): ModelCall {
  const marks = wanted && vendor === "anthropic" && !without.has("cache_control");
  const messages = prompt.map((message) => withoutUntaken(message, vendor));
  return {
    ...call,
    prompt: marks ? markedPrompt(messages) : messages,
    ...(tools !== undefined && { tools: marks ? markedTools(tools) : tools }),
    ...(toolChoice !== undefined && !without.has("tool_choice") && { toolChoice }),
    ...(thinking !== "off" && { reasoning: thinking === "max" ? "xhigh" : thinking }),
    // The conversation is in the gateway: the vendor need not store it.
    ...(vendor === "openai" && { providerOptions: { ...call.providerOptions, openai: { store: false } } }),
  };
}
