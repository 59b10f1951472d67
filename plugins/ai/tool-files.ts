/**
 * Shows the files in the results of tools to the model. A message of a tool holds only text in the protocol of chat
 * completions, so the files follow the results in a message of the user.
 */
import type { EngineTurn } from "service-gateway/sdk";
import { isSendable, unseenFile } from "./attachments.ts";
import type { Library, ModelCall } from "./library.ts";

type Json = Awaited<ReturnType<EngineTurn["tools"][number]["run"]>>;
type Output = Awaited<ReturnType<NonNullable<Parameters<Library["dynamicTool"]>[0]["toModelOutput"]>>>;
type Message = ModelCall["prompt"][number];
type Result = Extract<Extract<Message, { readonly role: "tool" }>["content"][number], { readonly type: "tool-result" }>;
type File = {
  readonly type: "file";
  readonly data: { readonly type: "data"; readonly data: string };
  readonly mediaType: string;
};

interface WithFiles {
  readonly text?: string;
  readonly json?: Json;
  readonly media: readonly { readonly mimeType: string; readonly data: string }[];
}

const members: readonly string[] = ["text", "json", "media"];

function hasMedia(result: unknown): result is WithFiles {
  if (typeof result !== "object" || result === null || Array.isArray(result)) return false;
  const { media } = result as { readonly media?: unknown };
  return Array.isArray(media) && media.length > 0 && Object.keys(result).every((key) => members.includes(key));
}

/** A result of a tool as the SDK passes it on. */
export function toolOutput(result: unknown): Output {
  if (!hasMedia(result))
    return typeof result === "string" ? { type: "text", value: result } : { type: "json", value: result as Json };
  const { text, json, media } = result;
  const texts = [...(text === undefined ? [] : [text]), ...(json === undefined ? [] : [JSON.stringify(json)])];
  return {
    type: "content",
    value: [
      ...texts.map((one) => ({ type: "text" as const, text: one })),
      ...media.map(({ mimeType, data }) =>
        isSendable(mimeType)
          ? ({ type: "file", data: { type: "data", data }, mediaType: mimeType } satisfies File)
          : { type: "text" as const, text: unseenFile(mimeType) },
      ),
    ],
  };
}

/** The result without its files, and those files. */
function apart(result: Result): { readonly result: Result; readonly files: readonly File[] } {
  if (result.output.type !== "content") return { result, files: [] };
  const files = result.output.value.filter((part): part is File => part.type === "file");
  if (files.length === 0) return { result, files };
  const texts = result.output.value.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const note =
    `[${files.length === 1 ? "The file" : `The ${files.length} files`} of this result ` +
    `follow${files.length === 1 ? "s" : ""} the results.]`;
  return { result: { ...result, output: { type: "text", value: [...texts, note].join("\n") } }, files };
}

/**
 * The call with the files of results behind them. Results of one step stay together: servers refuse another message
 * between them.
 */
export function withToolFiles(call: ModelCall): ModelCall {
  if (!call.prompt.some(({ role }) => role === "tool")) return call;
  const prompt: Message[] = [];
  let waiting: Extract<Message, { readonly role: "user" }>["content"] = [];
  const show = () => {
    if (waiting.length > 0) prompt.push({ role: "user", content: waiting });
    waiting = [];
  };
  for (const message of call.prompt) {
    if (message.role !== "tool") {
      show();
      prompt.push(message);
      continue;
    }
    const content = message.content.map((part) => {
      if (part.type !== "tool-result") return part;
      const { result, files } = apart(part);
      if (files.length > 0)
        waiting = [
          ...waiting,
          { type: "text", text: `[files from the result of the tool ${part.toolName}, not from the user]` },
          ...files,
        ];
      return result;
    });
    prompt.push({ ...message, content });
  }
  show();
  return { ...call, prompt };
}
