/** Chat completions, as strict as their strictest server: below the path of an address, with a key or without. */
import { type Content, unknownKey, type VendorProtocol } from "./index.ts";

const fields = ["model", "messages", "stream", "stream_options", "tools", "tool_choice", "reasoning_effort"];

function events({ text = "" }: Content) {
  const chunk = (delta: object, finish: string | null = null) => ({
    ...{ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "any" },
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
  return { begin: [chunk({ role: "assistant", content: text })], end: [{ ...chunk({}, "stop"), usage }] };
}

export const chatAt = (address: string, { needsKey }: { readonly needsKey: boolean }): VendorProtocol => ({
  path: () => `${new URL(address).pathname}/chat/completions`,
  keyHeader: (key) => ["authorization", needsKey ? `Bearer ${key}` : undefined],
  refusal({ body }) {
    const odd = unknownKey(body, fields);
    if (odd !== undefined) return `Unrecognized request argument supplied: ${odd}`;
    return body.stream === true && body.messages[0]?.role === "system" ? undefined : "messages: invalid";
  },
  error: (status, message) => ({ error: { message, type: "invalid_request_error", code: status } }),
  events,
});
