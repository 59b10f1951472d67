/** OpenAI's Responses API: https://platform.openai.com/docs/api-reference/responses. */
import { type Content, unknownKey, type VendorProtocol, type VendorRequest } from "./index.ts";

const encrypted = "encrypted-thought";
const fields = [
  "model",
  "input",
  "stream",
  "store",
  "include",
  "tools",
  "tool_choice",
  "reasoning",
  "max_output_tokens",
];

interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly call_id?: string;
  readonly encrypted_content?: string;
}

function inputFault(input: readonly Item[]): string | undefined {
  const answered = new Set(input.filter(({ type }) => type === "function_call_output").map(({ call_id: id }) => id));
  for (const [index, item] of input.entries()) {
    if (item.type === "item_reference") return `Item with id not found. Items are not persisted when store is false.`;
    if (item.type === "reasoning" && item.encrypted_content !== encrypted)
      return `Item 'rs_1' of type 'reasoning' was provided without its encrypted content.`;
    if (item.type === "reasoning" && input[index + 1]?.type !== "function_call")
      return `Item 'rs_1' of type 'reasoning' was provided without its required following item.`;
    if (item.type === "function_call" && !answered.has(item.call_id))
      return `No tool output found for function call ${item.call_id}.`;
  }
  return undefined;
}

function refusal({ body }: VendorRequest): string | undefined {
  const odd = unknownKey(body, fields);
  if (odd !== undefined) return `Unknown parameter: '${odd}'.`;
  if (body.store !== false) return "This organization stores nothing: store must be false.";
  for (const [at, tool] of (body.tools ?? []).entries()) {
    if (tool.type !== "function") return `Invalid value: tools[${at}].type`;
    const { properties = {}, required = [] } = tool.parameters;
    if (tool.strict !== false && Object.keys(properties).length !== required.length)
      return `Invalid schema for function '${tool.name}': 'required' is required to include every key in properties.`;
  }
  return inputFault(body.input);
}

function events({ thought, text, calls = [], cache }: Content) {
  const head = { id: "resp_1", created_at: 1_700_000_000, model: "gpt-5" };
  const begin: object[] = [
    { type: "response.created", response: head },
    { type: "response.in_progress", response: head },
  ];
  let index = 0;
  const item = (added: object, done: object, ...between: readonly object[]) => {
    begin.push({ type: "response.output_item.added", output_index: index, item: added }, ...between);
    begin.push({ type: "response.output_item.done", output_index: index, item: done });
    index += 1;
  };
  if (thought !== undefined) {
    const reasoning = { type: "reasoning", id: "rs_1", summary: [] };
    const place = { item_id: "rs_1", output_index: index, summary_index: 0 };
    const between = [
      { type: "response.reasoning_summary_part.added", ...place, part: { type: "summary_text", text: "" } },
      { type: "response.reasoning_summary_text.delta", ...place, delta: thought },
      { type: "response.reasoning_summary_part.done", ...place, part: { type: "summary_text", text: thought } },
    ];
    item({ ...reasoning, encrypted_content: "" }, { ...reasoning, encrypted_content: encrypted }, ...between);
  }
  if (text !== undefined) {
    const delta = { type: "response.output_text.delta", item_id: "msg_1", output_index: index, delta: text };
    item({ type: "message", id: "msg_1" }, { type: "message", id: "msg_1" }, delta);
  }
  for (const [at, { name, args }] of calls.entries()) {
    const call = { type: "function_call", id: `fc_${at}`, call_id: `call_${at}`, name };
    const json = typeof args === "string" ? args : JSON.stringify(args);
    const place = { item_id: call.id, output_index: index };
    const pieces = [json.slice(0, 3), json.slice(3)].map((delta) => ({
      ...{ type: "response.function_call_arguments.delta", ...place, delta },
    }));
    const done = { type: "response.function_call_arguments.done", ...place, arguments: json };
    item({ ...call, arguments: "" }, { ...call, arguments: json, status: "completed" }, ...pieces, done);
  }
  const usage = {
    input_tokens: 5 + (cache?.read ?? 0),
    input_tokens_details: { cached_tokens: cache?.read ?? 0 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: thought === undefined ? 0 : 3 },
  };
  return { begin, end: [{ type: "response.completed", response: { ...head, usage, incomplete_details: null } }] };
}

export const openai: VendorProtocol = {
  path: () => "/v1/responses",
  keyHeader: (key) => ["authorization", `Bearer ${key}`],
  refusal,
  error: (status, message) => ({
    error: { message, type: status === 429 ? "rate_limit_exceeded" : "invalid_request_error", code: null, param: null },
  }),
  events,
};
