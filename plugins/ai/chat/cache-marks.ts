/**
 * Marks what a server may cache in a request: the instructions, which follow the tools, and the last message of the
 * user. Anthropic's models cache nothing without marks, also behind OpenRouter and LiteLLM
 * (https://openrouter.ai/docs/features/prompt-caching).
 */

interface Body {
  readonly [field: string]: unknown;
}

const mark = { cache_control: { type: "ephemeral" } } as const;

/** A message with a mark on the last part of its content. */
function marked(message: Body): Body {
  const { content } = message;
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (!Array.isArray(parts) || parts.length === 0 || content === "") return message;
  return {
    ...message,
    content: parts.map((part: Body, index) => (index === parts.length - 1 ? { ...part, ...mark } : part)),
  };
}

/** The body of a request to chat completions, with marks. */
export function withCacheMarks(body: Body): Body {
  if (!Array.isArray(body.messages)) return body;
  const messages = body.messages as readonly Body[];
  const places = new Set([
    messages.findLastIndex(({ role }) => role === "system"),
    messages.findLastIndex(({ role }) => role === "user"),
  ]);
  return { ...body, messages: messages.map((message, index) => (places.has(index) ? marked(message) : message)) };
}
