/** Anthropic's Messages API: https://docs.anthropic.com/en/api/messages. */
import { type Content, isObject, unknownKey, type VendorProtocol, type VendorRequest } from "./index.ts";

const signature = "signature-of-the-thought";
const fields = ["model", "max_tokens", "system", "messages", "tools", "tool_choice", "stream", "thinking"];
const blocks = ["text", "image", "document", "thinking", "redacted_thinking", "tool_use", "tool_result"];

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly signature?: string;
  readonly cache_control?: unknown;
}

interface Message {
  readonly role: string;
  readonly content: readonly Block[];
}

function messagesFault(messages: readonly Message[], thinks: boolean): string | undefined {
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== (index % 2 === 0 ? "user" : "assistant")) return `messages.${index}: roles must alternate`;
    const odd = content.find(({ type }) => !blocks.includes(type));
    if (odd !== undefined) return `messages.${index}: unexpected block ${odd.type}`;
    const calls = content.filter(({ type }) => type === "tool_use");
    if (thinks && calls.length > 0 && content[0]?.type !== "thinking")
      return `messages.${index}.content.0.type: Expected \`thinking\`, but found \`${content[0]?.type}\``;
    if (calls.some(({ input }) => !isObject(input)))
      return `messages.${index}.content.0.tool_use.input: Input should be a valid dictionary`;
    if (calls.some(({ id = "" }) => !/^[\w-]+$/.test(id)))
      return `messages.${index}.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
    if (content.some((block) => block.type === "thinking" && block.signature !== signature))
      return `messages.${index}: Invalid \`signature\` in \`thinking\` block`;
    const results = new Set((messages[index + 1]?.content ?? []).map(({ tool_use_id: id }) => id));
    const lost = calls.find(({ id }) => !results.has(id));
    if (lost !== undefined) return `messages.${index}: \`tool_use\` without \`tool_result\`: ${lost.id}`;
  }
  return undefined;
}

function refusal({ headers, body }: VendorRequest): string | undefined {
  if (headers["anthropic-version"] !== "2023-06-01") return "anthropic-version: header is required";
  if (headers.authorization !== undefined) return "authorization: unexpected header";
  const odd = unknownKey(body, fields);
  if (odd !== undefined) return `${odd}: Extra inputs are not permitted`;
  if (body.stream !== true || !(body.max_tokens > 0)) return "max_tokens: Field required";
  if (!Array.isArray(body.system)) return "system: Input should be a list";
  for (const [index, tool] of (body.tools ?? []).entries()) {
    const key = unknownKey(tool, ["name", "description", "input_schema", "cache_control", "eager_input_streaming"]);
    if (key !== undefined) return `tools.${index}.custom.${key}: Extra inputs are not permitted`;
    if (tool.input_schema?.type !== "object")
      return `tools.${index}.custom.input_schema.type: Input should be 'object'`;
  }
  const marked = JSON.stringify(body).match(/"cache_control"/g) ?? [];
  if (marked.length > 4) return "A maximum of 4 blocks with cache_control may be provided";
  return messagesFault(body.messages, body.thinking !== undefined && body.thinking.type !== "disabled");
}

function events({ thought, text, calls = [], cache = { read: 0, written: 0 } }: Content) {
  const usage = {
    input_tokens: 5,
    cache_read_input_tokens: cache.read,
    cache_creation_input_tokens: cache.written,
    output_tokens: 1,
  };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude", content: [], usage };
  const begin: object[] = [{ type: "message_start", message }, { type: "ping" }];
  let index = 0;
  const block = (content: object, ...deltas: readonly object[]) => {
    begin.push({ type: "content_block_start", index, content_block: content });
    for (const delta of deltas) begin.push({ type: "content_block_delta", index, delta });
    begin.push({ type: "content_block_stop", index });
    index += 1;
  };
  if (thought !== undefined) {
    const deltas = [
      { type: "thinking_delta", thinking: thought },
      { type: "signature_delta", signature },
    ];
    block({ type: "thinking", thinking: "", signature: "" }, ...deltas);
  }
  if (text !== undefined) block({ type: "text", text: "" }, { type: "text_delta", text });
  for (const [at, { name, args }] of calls.entries()) {
    const json = typeof args === "string" ? args : JSON.stringify(args);
    const pieces = [json.slice(0, 3), json.slice(3)].map((piece) => ({
      type: "input_json_delta",
      partial_json: piece,
    }));
    block({ type: "tool_use", id: `toolu_${at}`, name, input: {} }, ...pieces);
  }
  const reason = calls.length > 0 ? "tool_use" : "end_turn";
  const end = [
    { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ];
  return { begin, end };
}

const types: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  404: "not_found_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

export const anthropic: VendorProtocol = {
  path: () => "/v1/messages",
  keyHeader: (key) => ["x-api-key", key],
  refusal,
  error: (status, message) => ({ type: "error", error: { type: types[status] ?? "api_error", message } }),
  events,
};
