/** Answers for the script of the test server: good ones, and each way in which a real server goes wrong. */
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

export interface Exchange {
  readonly body: { readonly model: string; readonly stream_options?: unknown };
  readonly response: ServerResponse;
  readonly gone: Promise<void>;
}

export type Answer = (exchange: Exchange) => Promise<void>;

type Delta = {
  readonly images?: readonly object[];
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly object[];
};

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

function open({ response }: Exchange): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
}

function chunk(
  { body, response }: Exchange,
  choice: { readonly delta: Delta; readonly finish_reason?: string } | null,
  more: object = {},
): void {
  const choices = choice === null ? [] : [{ index: 0, finish_reason: null, ...choice }];
  const data = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: body.model,
    choices,
    ...more,
  };
  response.write(`data: ${JSON.stringify(data)}\n\n`);
}

function finish(exchange: Exchange, reason: string): void {
  chunk(exchange, { delta: {}, finish_reason: reason });
  if (exchange.body.stream_options !== undefined) chunk(exchange, null, { usage });
  exchange.response.end("data: [DONE]\n\n");
}

function words(text: string): readonly string[] {
  return text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? [];
}

/** Sends a text as one event. */
export function sayAtOnce(text: string): Answer {
  return async (exchange) => {
    open(exchange);
    chunk(exchange, { delta: { content: text } });
    finish(exchange, "stop");
  };
}

/** Streams a text word by word. */
export function say(
  text: string,
  {
    reasoning = "",
    delayMs = 0,
    firstDelayMs = 0,
    finishReason = "stop",
    images = [],
  }: {
    readonly images?: readonly string[];
    readonly reasoning?: string;
    readonly delayMs?: number;
    readonly firstDelayMs?: number;
    readonly finishReason?: string;
  } = {},
): Answer {
  return async (exchange) => {
    open(exchange);
    if (firstDelayMs > 0) await delay(firstDelayMs);
    for (const word of words(reasoning)) chunk(exchange, { delta: { reasoning_content: word } });
    for (const word of words(text)) {
      chunk(exchange, { delta: { content: word } });
      if (delayMs > 0) await delay(delayMs);
    }
    for (const url of images) chunk(exchange, { delta: { images: [{ type: "image_url", image_url: { url } }] } });
    finish(exchange, finishReason);
  };
}

/** The least wait between two pieces: a faster text comes in longer ones. */
const leastPieceMs = 20;

/** Streams a text at a rate, whatever time the pieces take on their way. */
export function write(text: string, { charsPerSecond }: { readonly charsPerSecond: number }): Answer {
  return async (exchange) => {
    open(exchange);
    const began = performance.now();
    for (let written = 0; written < text.length && !exchange.response.destroyed; ) {
      await delay(Math.max(leastPieceMs, 1_000 / charsPerSecond));
      const due = Math.floor(((performance.now() - began) * charsPerSecond) / 1_000);
      const next = Math.min(text.length, Math.max(written + 1, due));
      chunk(exchange, { delta: { content: text.slice(written, next) } });
      written = next;
    }
    finish(exchange, "stop");
  };
}

/** Calls tools, the arguments in pieces as real servers send them; `text` comes before. */
export function callTools(
  calls: readonly { readonly name: string; readonly args: object | string }[],
  { text = "", finishReason = "tool_calls" } = {},
): Answer {
  return async (exchange) => {
    open(exchange);
    if (text !== "") chunk(exchange, { delta: { content: text } });
    for (const [index, call] of calls.entries()) {
      const args = typeof call.args === "string" ? call.args : JSON.stringify(call.args);
      const half = Math.ceil(args.length / 2);
      const head = { index, id: `call-${index}`, type: "function", function: { name: call.name, arguments: "" } };
      chunk(exchange, { delta: { tool_calls: [head] } });
      for (const piece of [args.slice(0, half), args.slice(half)]) {
        if (piece !== "") chunk(exchange, { delta: { tool_calls: [{ index, function: { arguments: piece } }] } });
      }
    }
    finish(exchange, finishReason);
  };
}

/** An HTTP error. */
export function refuse(
  status: number,
  message: string,
  {
    headers = {},
    code = "error",
    body = { error: { message, type: "error", code } },
  }: { readonly headers?: Record<string, string>; readonly code?: string; readonly body?: unknown } = {},
): Answer {
  return async ({ response }) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Accepts the request and never answers. */
export function hang(): Answer {
  return ({ gone }) => gone;
}

/** Answers with headers and some text, then falls silent. */
export function stall(text: string): Answer {
  return async (exchange) => {
    open(exchange);
    for (const word of words(text)) chunk(exchange, { delta: { content: word } });
    await exchange.gone;
  };
}

/** Cuts the connection after some text. */
export function cut(text: string, { delayMs = 0 } = {}): Answer {
  return async (exchange) => {
    open(exchange);
    for (const word of words(text)) {
      chunk(exchange, { delta: { content: word } });
      if (delayMs > 0) await delay(delayMs);
    }
    await delay(20);
    exchange.response.destroy();
  };
}

/** A complete call of a tool; then the connection breaks, or the stream ends without a finish reason. */
export function cutTools(name: string, args: string, { how }: { readonly how: "destroy" | "end" }): Answer {
  return async (exchange) => {
    open(exchange);
    const call = { index: 0, id: "call-0", type: "function", function: { name, arguments: args } };
    chunk(exchange, { delta: { tool_calls: [call] } });
    await delay(20);
    if (how === "end") exchange.response.end();
    else exchange.response.destroy();
  };
}

/** Ends the stream properly, but without a finish reason. */
export function endEarly(text: string): Answer {
  return async (exchange) => {
    open(exchange);
    for (const word of words(text)) chunk(exchange, { delta: { content: word } });
    exchange.response.end();
  };
}

/** Some text, then a line that is no JSON. */
export function garble(text = ""): Answer {
  return async (exchange) => {
    open(exchange);
    for (const word of words(text)) chunk(exchange, { delta: { content: word } });
    exchange.response.end('data: {"choices": [{"delta": \n\ndata: [DONE]\n\n');
  };
}

/** Some text, then an error object in the stream. */
export function errorInStream(
  message: string,
  {
    text = "",
    error = { error: { message, type: "server_error", code: 500 } },
  }: { readonly text?: string; readonly error?: object } = {},
): Answer {
  return async (exchange) => {
    open(exchange);
    for (const word of words(text)) chunk(exchange, { delta: { content: word } });
    exchange.response.write(`data: ${JSON.stringify(error)}\n\n`);
    exchange.response.end("data: [DONE]\n\n");
  };
}

/** A page of a proxy where a stream should be. */
export function page(): Answer {
  return async ({ response }) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<html><body>Welcome</body></html>");
  };
}

/** A JSON object with status 200 where a stream should be, in two pieces. */
export function whole(body: object): Answer {
  return async ({ response }) => {
    response.writeHead(200, { "content-type": "application/json" });
    const text = JSON.stringify(body, null, 2);
    response.write(text.slice(0, 3));
    await delay(1);
    response.end(text.slice(3));
  };
}
