/** Converts a turn's transcript and tools for the AI SDK. */
import type { EngineTurn } from "service-gateway/sdk";
import { type Attachment, readAttachments } from "./attachments.ts";
import type { ExactNumbers } from "./exact-numbers.ts";
import type { Library, ModelCall } from "./library.ts";
import { toolOutput } from "./tool-files.ts";

type Tools = NonNullable<Parameters<Library["streamText"]>[0]["tools"]>;

type Message =
  | { readonly role: "user"; readonly content: string | Attachment[] }
  | { readonly role: "assistant"; readonly content: string };

interface Passage {
  readonly role: Message["role"];
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/**
 * Begins with a user message, and merges consecutive answers: the templates of many local models accept nothing else.
 * Consecutive user messages are merged by `withMergedMessages`, once it is known which of them fit. System notes are
 * sent as user messages, because only the instructions may instruct.
 */
export async function renderMessages(
  messages: EngineTurn["messages"],
  { hears }: { readonly hears: boolean },
): Promise<Message[]> {
  const passages: Passage[] = [];
  for (const { role, text, media } of messages) {
    const attachments = role === "user" ? await readAttachments(media, { hears }) : [];
    if (text === "" && attachments.length === 0) continue;
    const as = role === "assistant" ? "assistant" : "user";
    const content = role === "system" ? `[system note] ${text}` : text;
    const last = passages.at(-1);
    if (as === "assistant" && last?.role === as)
      passages[passages.length - 1] = { ...last, text: `${last.text}\n\n${content}` };
    else passages.push({ role: as, text: content, attachments });
  }
  // The SDK refuses a list without messages, because it asks the model nothing.
  if (passages.length === 0) passages.push({ role: "user", text: "[an empty message]", attachments: [] });
  if (passages[0]?.role === "assistant")
    passages.unshift({ role: "user", text: "[the conversation begins with an answer]", attachments: [] });
  return passages.map(({ role, text, attachments }) =>
    role === "assistant"
      ? { role, content: text }
      : { role, content: attachments.length === 0 ? text : [{ type: "text", text }, ...attachments] },
  );
}

/** The request with consecutive user messages as one: their texts, then their files. */
export function withMergedMessages(call: ModelCall): ModelCall {
  const prompt: ModelCall["prompt"] = [];
  for (const message of call.prompt) {
    const last = prompt.at(-1);
    if (message.role !== "user" || last?.role !== "user") {
      prompt.push(message);
      continue;
    }
    const [before, ...filesBefore] = last.content;
    const [text, ...files] = message.content;
    if (before?.type === "text" && text?.type === "text")
      prompt[prompt.length - 1] = {
        ...message,
        content: [{ ...text, text: `${before.text}\n\n${text.text}` }, ...filesBefore, ...files],
      };
    else prompt[prompt.length - 1] = { ...message, content: [...last.content, ...message.content] };
  }
  return prompt.length === call.prompt.length ? call : { ...call, prompt };
}

/** Converts the tools. The SDK runs the loop. If a tool throws, the model reads the reason and the turn continues. */
export function renderTools(
  tools: EngineTurn["tools"],
  {
    library,
    exact,
    signal,
  }: { readonly library: Library; readonly exact: Pick<ExactNumbers, "textOf">; readonly signal: AbortSignal },
): Tools {
  return Object.fromEntries(
    tools.map((tool) => [
      tool.name,
      library.dynamicTool({
        description: tool.description,
        inputSchema: library.jsonSchema(tool.parameters as Parameters<Library["jsonSchema"]>[0]),
        execute: (args, { abortSignal, toolCallId }) =>
          tool.run(args as Parameters<typeof tool.run>[0], abortSignal ?? signal, exact.textOf(toolCallId, args)),
        toModelOutput: ({ output }) => toolOutput(output),
      }),
    ]),
  );
}
