/**
 * An MCP program whose tool `note` writes each call to a file before it answers: `node writing-program.ts FILE`. While
 * `FILE.hold` exists, it does not answer. A note with the word `spoilt` is written, and answered with an error.
 */
import { appendFileSync, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [, , file = ""] = process.argv;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: object; readonly _meta?: object };
}

async function resultOf({ method, params = {} }: Message): Promise<object> {
  if (method === "initialize")
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "writer", version: "1" },
    };
  if (method === "tools/list")
    return {
      tools: [
        {
          name: "note",
          description: "Notes a text.",
          inputSchema: { type: "object", properties: { text: { type: "string" } } },
        },
      ],
    };
  appendFileSync(file, `${JSON.stringify({ args: params.arguments, meta: params._meta })}\n`);
  while (existsSync(`${file}.hold`)) await sleep(20);
  if (JSON.stringify(params.arguments).includes("spoilt"))
    return { content: [{ type: "text", text: "the file was written, its index was not" }], isError: true };
  return { content: [{ type: "text", text: "it is noted" }] };
}

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id === undefined) return;
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: await resultOf(message) })}\n`);
  })
  .on("close", () => process.exit(0));
