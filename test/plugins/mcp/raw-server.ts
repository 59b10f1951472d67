/**
 * An MCP server that answers calls of tools letter by letter with what a test writes: `$ID` stands for the id of the
 * call. As a program it reads the answer and its tools from files of `RAW_DIRECTORY`, and notes there what it received.
 * `raw-servers.ts` starts it.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Answering {
  readonly answer: string;
  readonly tools: readonly object[];
}

/** The answer to a message; `undefined` for a notification. */
export function answerTo(line: string, { answer, tools }: Answering): string | undefined {
  const {
    id,
    method,
    params = {},
  } = JSON.parse(line) as { id?: number; method: string; params?: { protocolVersion?: string } };
  if (id === undefined) return undefined;
  if (method === "tools/call") return answer.replaceAll("$ID", String(id));
  const result =
    method === "initialize"
      ? {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "raw", version: "1.0.0" },
        }
      : { tools };
  const error = { code: -32_601, message: "unknown" };
  const known = method === "initialize" || method === "tools/list";
  return JSON.stringify({ jsonrpc: "2.0", id, ...(known ? { result } : { error }) });
}

function serveStreams(directory: string): void {
  const read = (name: string) => readFileSync(join(directory, name), "utf8");
  createInterface({ input: process.stdin }).on("line", (line) => {
    if (line.includes('"tools/call"')) appendFileSync(join(directory, "calls"), `${line}\n`);
    const answer = answerTo(line, { answer: read("answer"), tools: JSON.parse(read("tools")) as object[] });
    if (answer !== undefined) process.stdout.write(`${answer}\n`);
  });
}

if (process.argv[1] === import.meta.filename) serveStreams(process.env.RAW_DIRECTORY ?? "");
