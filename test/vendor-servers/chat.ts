/** Chat completions, as strict as their strictest server: below the path of an address, with a key or without. */
import { type Content, unknownKey, type VendorProtocol, type VendorRequest } from "./index.ts";

const fields = [
  ...["model", "messages", "stream", "stream_options", "tools", "tool_choice", "reasoning_effort"],
  ...["max_tokens", "thinking"],
];

interface Message {
  readonly role: keyof typeof members;
  readonly content: unknown;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

const members = {
  system: ["role", "content"],
  user: ["role", "content"],
  assistant: ["role", "content", "tool_calls", "reasoning_content"],
  tool: ["role", "content", "tool_call_id"],
} as const;
const parts = ["text", "image_url", "input_audio", "file"];

const isJson = (text: unknown): boolean => {
  try {
    JSON.parse(String(text));
    return typeof text === "string";
  } catch {
    return false;
  }
};

function messageFault(message: Message, index: number, next: readonly Message[]): string | undefined {
  const { role, content, tool_calls: calls = [] } = message;
  if (members[role] === undefined) return `messages.${index}.role: invalid`;
  const odd = unknownKey(message, members[role]);
  if (odd !== undefined) return `messages.${index}.${odd}: property '${odd}' is unsupported`;
  if (Array.isArray(content) && content.some(({ type }) => !parts.includes(type)))
    return `messages.${index}.content: invalid part`;
  if (calls.some(({ function: { arguments: json }, type }) => type !== "function" || !isJson(json)))
    return `messages.${index}.tool_calls: the arguments are not JSON`;
  const results = next.slice(0, calls.length).map(({ tool_call_id: id }) => id);
  return calls.every(({ id }) => results.includes(id))
    ? undefined
    : `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.`;
}

/** What single servers differ in. */
interface Kind {
  readonly needsKey: boolean;
  /** Groq and Cerebras refuse the thoughts that they have sent, DeepSeek a call of a tool without them. */
  readonly thoughts?: "refused" | "needed";
  /** Mistral: ids of calls have nine letters and digits. */
  readonly shortIds?: boolean;
  /** Mistral: thoughts are in a list of the content. */
  readonly listsThoughts?: boolean;
  /** A field that the server does not know. */
  readonly unknownField?: string;
}

function refusal({ body }: VendorRequest, { thoughts, unknownField = "", shortIds = false }: Kind): string | undefined {
  const odd = unknownKey(body, fields) ?? (unknownField in body ? unknownField : undefined);
  if (odd !== undefined) return `Unrecognized request argument supplied: ${odd}`;
  if (body.stream !== true || body.messages[0]?.role !== "system") return "messages: invalid";
  for (const [at, tool] of (body.tools ?? []).entries())
    if (tool.type !== "function" || tool.function.parameters?.type !== "object") return `tools.${at}: invalid`;
  const messages = body.messages as readonly Message[];
  for (const [index, message] of messages.entries()) {
    const fault = messageFault(message, index, messages.slice(index + 1));
    if (fault !== undefined) return fault;
    const calls = message.tool_calls ?? [];
    const long = shortIds ? calls.find(({ id }) => !/^[A-Za-z0-9]{9}$/.test(id)) : undefined;
    if (long !== undefined) return `Tool call id was ${long.id} but must be a-z, A-Z, 0-9, with a length of 9.`;
    if (thoughts === "refused" && message.reasoning_content !== undefined)
      return `'messages.${index}' : for 'role:assistant' the following must be satisfied[('messages.${index}' : property 'reasoning_content' is unsupported)]`;
    if (thoughts === "needed" && calls.length > 0 && (message.reasoning_content ?? "") === "")
      return "The `reasoning_content` in the thinking mode must be passed back to the API.";
  }
  return undefined;
}

function events({ thought, text, calls = [], cache, picture }: Content, { shortIds, listsThoughts }: Kind) {
  const chunk = (delta: object, finish: string | null = null) => ({
    ...{ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "any" },
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const begin: object[] = [chunk({ role: "assistant", content: "" })];
  const listed = [{ type: "thinking", thinking: [{ type: "text", text: thought }] }];
  if (thought !== undefined) begin.push(chunk(listsThoughts ? { content: listed } : { reasoning_content: thought }));
  if (text !== undefined) begin.push(chunk({ content: text }));
  if (picture !== undefined)
    begin.push(chunk({ images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${picture}` } }] }));
  for (const [index, { name, args }] of calls.entries()) {
    const json = typeof args === "string" ? args : JSON.stringify(args);
    const piece = (more: object) => begin.push(chunk({ tool_calls: [{ index, ...more }] }));
    piece({
      id: shortIds ? `call0000${index}` : `call_${index}`,
      type: "function",
      function: { name, arguments: json.slice(0, 3) },
    });
    piece({ function: { arguments: json.slice(3) } });
  }
  const read = cache?.read ?? 0;
  const usage = {
    ...{ prompt_tokens: 5 + read, completion_tokens: 7, total_tokens: 12 + read },
    ...(read > 0 && { prompt_tokens_details: { cached_tokens: read } }),
  };
  return { begin, end: [{ ...chunk({}, calls.length > 0 ? "tool_calls" : "stop"), usage }] };
}

export const chatAt = (address: string, kind: Kind): VendorProtocol => ({
  path: () => `${new URL(address).pathname.replace(/\/$/, "")}/chat/completions`,
  keyHeader: (key) => ["authorization", kind.needsKey ? `Bearer ${key}` : undefined],
  refusal: (request) => refusal(request, kind),
  error: (status, message) => ({ error: { message, type: "invalid_request_error", code: status } }),
  events: (content) => events(content, kind),
});
