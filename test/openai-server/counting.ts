/**
 * A model server with a context of its own: it counts tokens itself, refuses what is too long, and answers from what it
 * was sent. Facts are words such as `FACT-12=blue`; a summary keeps those of its request.
 */
import type { Answer, Exchange } from "./answers.ts";
import { type ChatRequest, createOpenAiServer } from "./index.ts";

export interface CountingServer {
  readonly url: string;
  /** Each request that was not refused: its tokens, and whether it asked for a summary. */
  readonly answered: readonly { readonly tokens: number; readonly isSummary: boolean; readonly model: string }[];
  readonly refused: readonly number[];
  readonly requests: readonly ChatRequest[];
  close(): Promise<void>;
}

/** The model calls a tool that takes no arguments. */
export interface CalledTool {
  readonly tool: string;
}

export interface CountingOptions {
  /** Tokens of a request and its reply. */
  readonly room: number;
  /** Whether a refusal names the room. */
  readonly names?: boolean;
  /** Called before a summary is sent. */
  readonly beforeSummary?: () => Promise<void> | void;
  readonly reply?: (request: ChatRequest["body"], facts: readonly string[]) => string | CalledTool | Answer;
  readonly port?: number;
}

/** About as tokenizers do it: pieces of words, up to three digits, each sign. */
export const tokensIn = (text: string): number =>
  text.match(/ ?[A-Za-z]{1,6}|\d{1,3}| ?[^\sA-Za-z\d]|\s/g)?.length ?? 0;

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("\n") : "";
}

function tokensOf({ messages, tools = [] }: ChatRequest["body"]): number {
  const inMessages = messages.map(
    ({ content, tool_calls }) => 4 + tokensIn(textOf(content)) + tokensIn(JSON.stringify(tool_calls ?? "")),
  );
  return inMessages.reduce((sum, each) => sum + each, 0) + (tools.length === 0 ? 0 : tokensIn(JSON.stringify(tools)));
}

export const isSummaryRequest = ({ messages }: ChatRequest["body"]): boolean =>
  textOf(messages[0]?.content).startsWith("You summarize the earlier part of a conversation");

const factsIn = (text: string): readonly string[] => [...new Set(text.match(/FACT-\d+=\w+/g) ?? [])];

const allText = ({ messages }: ChatRequest["body"]): string =>
  messages.map(({ content }) => textOf(content)).join("\n");

function send({ body, response }: Exchange, made: string | CalledTool, promptTokens: number): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (more: object) =>
    response.write(
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: body.model, ...more })}\n\n`,
    );
  const isText = typeof made === "string";
  const called = (name: string) => ({ index: 0, id: "1", type: "function", function: { name, arguments: "{}" } });
  const delta = isText ? { content: made } : { tool_calls: [called(made.tool)] };
  chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: isText ? "stop" : "tool_calls" }] });
  const completion = tokensIn(JSON.stringify(made));
  const usage = { prompt_tokens: promptTokens, completion_tokens: completion, total_tokens: promptTokens + completion };
  chunk({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}

export async function createCountingServer({
  room,
  names = true,
  beforeSummary,
  reply = (_, facts) => `I know ${facts.length} facts: ${facts.join(" ")}`,
  port = 0,
}: CountingOptions): Promise<CountingServer> {
  const answered: { tokens: number; isSummary: boolean; model: string }[] = [];
  const refused: number[] = [];
  const answer = (): Answer => async (exchange) => {
    const body = exchange.body as unknown as ChatRequest["body"];
    const tokens = tokensOf(body);
    const { max_tokens: most = 0 } = body as { readonly max_tokens?: number };
    if (tokens + most > room) {
      refused.push(tokens);
      const message = names
        ? `This model's maximum context length is ${room} tokens. However, your messages resulted in ${tokens} tokens.`
        : "The prompt is too long.";
      exchange.response.writeHead(400, { "content-type": "application/json" });
      exchange.response.end(JSON.stringify({ error: { message, type: "invalid_request_error" } }));
      return;
    }
    const isSummary = isSummaryRequest(body);
    answered.push({ tokens, isSummary, model: body.model });
    const facts = factsIn(allText(body));
    if (isSummary) {
      await beforeSummary?.();
      send(exchange, `Summary. ${facts.join(" ")}`, tokens);
      return;
    }
    const made = reply(body, facts);
    if (typeof made === "function") await made(exchange);
    else send(exchange, made, tokens);
  };
  const server = await createOpenAiServer({ answer, port });
  return { ...{ answered, refused }, url: server.url, requests: server.requests, close: () => server.close() };
}
