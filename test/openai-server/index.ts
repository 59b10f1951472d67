/**
 * A small real HTTP server that speaks chat completions. Each request takes the next answer of the script;
 * when there is none left, it says back the last message of the user, or what `answer` makes of it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Answer, say } from "./answers.ts";

export interface ChatRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: {
    readonly model: string;
    readonly stream?: boolean;
    readonly messages: readonly {
      readonly role: string;
      readonly content: unknown;
      readonly tool_calls?: unknown;
      readonly tool_call_id?: string;
    }[];
    readonly tools?: readonly {
      readonly function: { readonly name: string; readonly description?: string; readonly parameters: unknown };
    }[];
    readonly [field: string]: unknown;
  };
  /** Resolves when the client has gone away before the end of the answer. */
  readonly gone: Promise<void>;
}

export interface OpenAiServer {
  /** Base address, ending in `/v1`. */
  readonly url: string;
  /** What was asked so far, in order. */
  readonly requests: readonly ChatRequest[];
  /** Adds answers to the script. */
  script(...answers: readonly Answer[]): void;
  /** With a key, every other one is answered 401. */
  requireKey(key: string): void;
  close(): Promise<void>;
}

async function readBody(request: IncomingMessage): Promise<ChatRequest["body"]> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as ChatRequest["body"];
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function lastUserText(body: ChatRequest["body"]): string {
  const content = body.messages.findLast((message) => message.role === "user")?.content;
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("") : "";
}

export async function createOpenAiServer({
  answer = (asked: string) => say(asked),
  port: wanted = 0,
} = {}): Promise<OpenAiServer> {
  const requests: ChatRequest[] = [];
  const answers: Answer[] = [];
  let key: string | undefined;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    if (request.method === "GET" && path === "/v1/models") {
      answerJson(response, 200, { object: "list", data: [{ id: "small", object: "model" }] });
      return;
    }
    if (request.method !== "POST" || path.split("?", 1)[0] !== "/v1/chat/completions") {
      answerJson(response, 404, { error: { message: `Unknown path ${path}`, type: "invalid_request_error" } });
      return;
    }
    const body = await readBody(request);
    const gone = new Promise<void>((resolve) => {
      response.on("close", () => {
        if (!response.writableFinished) resolve();
      });
    });
    requests.push({ path, headers: request.headers, body, gone });
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) {
      const given = request.headers.authorization ?? "none";
      answerJson(response, 401, {
        error: { message: `Incorrect API key provided: ${given.replace("Bearer ", "")}.`, code: "invalid_api_key" },
      });
      return;
    }
    await (answers.shift() ?? answer(lastUserText(body)))({ body, response, gone });
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(wanted, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    script(...more) {
      answers.push(...more);
    },
    requireKey(wanted) {
      key = wanted;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
