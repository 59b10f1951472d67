/**
 * A model server that sends too much, as a program of its own: the name of the model says what, `FLOOD_MB` how much. It
 * prints its port, and after each request how many megabytes the client took.
 */

import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";

const megabyte = 1024 * 1024;
const most = Number(process.env.FLOOD_MB ?? "100") * megabyte;

const event = (delta: object) =>
  "data: " +
  `${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
const call = (more: object) => event({ tool_calls: [{ index: 0, ...more }] });
const filler = "x".repeat(64 * 1024);

interface Flood {
  readonly status?: number;
  readonly type?: string;
  readonly begin?: string;
  readonly piece: string;
}

const floods: Readonly<Record<string, Flood>> = {
  error: { status: 500, type: "application/json", begin: '{"error":{"message":"', piece: filler },
  "error-lines": { status: 400, type: "text/plain", piece: `${filler}\n` },
  line: { begin: `${event({ content: "Hello" })}data: {"a":"`, piece: filler },
  "no-stream": { type: "application/json", begin: '{"a":"', piece: filler },
  blank: { piece: " ".repeat(64 * 1024) },
  comments: { piece: `: ${"x".repeat(1_000)}\n\n`.repeat(60) },
  arguments: {
    begin: call({ id: "c", type: "function", function: { name: "send", arguments: '{"message":"' } }),
    piece: call({ function: { arguments: "x".repeat(16 * 1024) } }),
  },
  "small-arguments": {
    begin: call({ id: "c", type: "function", function: { name: "send", arguments: '{"message":"' } }),
    piece: call({ function: { arguments: "abcd" } }).repeat(100),
  },
  text: { piece: event({ content: "word ".repeat(2_000) }) },
  "small-text": { piece: event({ content: "word" }).repeat(100) },
  reasoning: { piece: event({ reasoning_content: "word ".repeat(2_000) }) },
  images: { piece: event({ images: [{ image_url: { url: `data:image/png;base64,${"A".repeat(megabyte)}` } }] }) },
  closings: { piece: event({ content: "The mark </think> ends it. ".repeat(50) }) },
};

/** Resolves when the response takes more, or nobody reads it any longer. */
async function roomOf(response: ServerResponse): Promise<void> {
  const over = new AbortController();
  const signal = over.signal;
  await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]).catch(() => undefined);
  over.abort();
}

async function send(
  response: ServerResponse,
  { status = 200, type = "text/event-stream", begin = "", piece }: Flood,
): Promise<number> {
  let sent = 0;
  response.writeHead(status, { "content-type": type });
  response.write(begin);
  while (sent < most && !response.destroyed) {
    sent += piece.length;
    if (!response.write(piece)) await roomOf(response);
  }
  response.end();
  return sent;
}

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  response.on("error", () => {});
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const { model } = JSON.parse(Buffer.concat(parts).toString()) as { readonly model: string };
    const flood = floods[model];
    if (flood !== undefined) {
      void send(response, flood).then((sent) => console.log(`sent ${model} ${Math.round(sent / megabyte)}`));
      return;
    }
    console.log(`sent ${model} 0`);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const finish =
      "data: " +
      `${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\n`;
    response.end(`${event({ content: "Hello." })}${finish}data: [DONE]\n\n`);
  });
});
server.listen(0, "127.0.0.1", () => console.log(`port ${(server.address() as { readonly port: number }).port}`));
process.on("disconnect", () => process.exit());
