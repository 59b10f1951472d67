/** Starts the server that answers letter by letter, as a program and over HTTP. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../../support/directory.ts";
import { type Answering, answerTo } from "./raw-server.ts";

const say = {
  name: "say",
  description: "Says something.",
  inputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
};

export interface RawServer {
  /** Settings of the server. */
  readonly settings: object;
  /** The message that answers calls from now on. */
  answer(message: string): void;
  /** The tools that it lists from now on. */
  list(tools: readonly object[]): void;
  /** The calls as they arrived. */
  calls(): readonly string[];
}

export function rawProgram(): RawServer {
  const directory = temporaryDirectory();
  const file = (name: string) => join(directory, name);
  writeFileSync(file("answer"), "");
  writeFileSync(file("tools"), JSON.stringify([say]));
  return {
    settings: {
      command: process.execPath,
      args: [join(import.meta.dirname, "raw-server.ts")],
      env: { RAW_DIRECTORY: directory },
    },
    answer: (message) => writeFileSync(file("answer"), message),
    list: (tools) => writeFileSync(file("tools"), JSON.stringify(tools)),
    calls: () => (existsSync(file("calls")) ? readFileSync(file("calls"), "utf8").split("\n").slice(0, -1) : []),
  };
}

/** `stream`: answers as events, in small pieces. */
export async function rawHttp({ stream = false } = {}): Promise<RawServer> {
  let answering: Answering = { answer: "", tools: [say] };
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const line = Buffer.concat(await request.toArray()).toString();
    if (line.includes('"tools/call"')) calls.push(line);
    const answer = answerTo(line, answering);
    if (answer === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" });
    if (!stream) return void response.end(answer);
    for (const piece of `event: message\ndata: ${answer}\n\n`.match(/[\s\S]{1,7}/g) ?? []) response.write(piece);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    settings: { url: `http://127.0.0.1:${port}/mcp` },
    answer: (answer) => {
      answering = { ...answering, answer };
    },
    list: (tools) => {
      answering = { ...answering, tools };
    },
    calls: () => calls,
  };
}
