/** Google's Gemini API: https://ai.google.dev/api/generate-content. */
import { type Content, isObject, unknownKey, type VendorProtocol, type VendorRequest } from "./index.ts";

const signature = "c2lnbmF0dXJl";
const fields = ["contents", "systemInstruction", "generationConfig", "tools", "toolConfig", "safetySettings"];
const parts = ["text", "thought", "thoughtSignature", "inlineData", "functionCall", "functionResponse"];

interface Part {
  readonly functionCall?: { readonly name: string; readonly args?: unknown };
  readonly functionResponse?: { readonly name: string };
  readonly thoughtSignature?: string;
}

interface Turn {
  readonly role: string;
  readonly parts: readonly Part[];
}

function contentsFault(contents: readonly Turn[]): string | undefined {
  for (const [index, content] of contents.entries()) {
    if (content.role !== (index % 2 === 0 ? "user" : "model")) return `contents[${index}]: roles must alternate`;
    for (const part of content.parts) {
      const odd = unknownKey(part, parts);
      if (odd !== undefined) return `Unknown name "${odd}" at 'contents[${index}].parts[0]': Cannot find field.`;
    }
    const calls = content.parts.filter(({ functionCall }) => functionCall !== undefined);
    if (calls.some(({ functionCall }) => !isObject(functionCall?.args ?? {})))
      return `Invalid value at 'contents[${index}].parts[0].function_call.args' (type.googleapis.com/google.protobuf.Struct)`;
    if (calls.length > 0 && calls[0]?.thoughtSignature !== signature)
      return "Function call is missing a thought_signature in functionCall parts.";
    const results = contents[index + 1]?.parts.filter(({ functionResponse }) => functionResponse !== undefined) ?? [];
    if (calls.length !== results.length)
      return "Please ensure that the number of function response parts is equal to that of function call parts.";
  }
  return undefined;
}

function refusal({ headers, body }: VendorRequest): string | undefined {
  if (headers.authorization !== undefined) return "Request had invalid authentication credentials.";
  const odd = unknownKey(body, fields);
  if (odd !== undefined) return `Unknown name "${odd}": Cannot find field.`;
  for (const [at, tool] of (body.tools?.[0]?.functionDeclarations ?? []).entries()) {
    const { parameters } = tool;
    if (parameters !== undefined && unknownKey(parameters, ["type", "properties", "required", "description"]))
      return `Invalid JSON payload received. Unknown name at 'tools[0].function_declarations[${at}].parameters'`;
  }
  return contentsFault(body.contents);
}

function events({ thought, text, calls = [], cache, picture }: Content) {
  const chunk = (part: object) => ({ candidates: [{ content: { role: "model", parts: [part] } }] });
  const begin = [
    ...(thought === undefined ? [] : [chunk({ text: thought, thought: true })]),
    ...(text === undefined ? [] : [chunk({ text })]),
    ...(picture === undefined ? [] : [chunk({ inlineData: { mimeType: "image/png", data: picture } })]),
    // Only the first of several calls is signed.
    ...calls.map(({ name, args }, at) => {
      const functionCall = { name, args: typeof args === "string" ? JSON.parse(args) : args };
      return chunk({ functionCall, ...(at === 0 && { thoughtSignature: signature }) });
    }),
  ];
  const read = cache?.read ?? 0;
  const usageMetadata = {
    promptTokenCount: 5 + read,
    candidatesTokenCount: 7,
    ...(read > 0 && { cachedContentTokenCount: read }),
    totalTokenCount: 12 + read,
  };
  return { begin, end: [{ candidates: [{ content: { parts: [] }, finishReason: "STOP" }], usageMetadata }] };
}

const statuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

export const google: VendorProtocol = {
  path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
  keyHeader: (key) => ["x-goog-api-key", key],
  refusal,
  error: (status, message) => ({ error: { code: status, message, status: statuses[status] ?? "INTERNAL" } }),
  events,
};
