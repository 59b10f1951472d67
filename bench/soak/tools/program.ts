/** An MCP program with the writing tool `note` and the reading tool `look`: `node program.ts JOURNAL`. */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { journalRun, runsIn, toolMs } from "./journal.ts";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly protocolVersion?: string;
    readonly arguments?: { readonly word?: string };
  };
}

const [, , journal = ""] = process.argv;
const inputSchema = { type: "object", properties: { word: { type: "string" }, text: { type: "string" } } };
const tools = [
  { name: "note", description: "Notes a word.", inputSchema },
  { name: "look", description: "Looks whether a word is noted.", inputSchema, annotations: { readOnlyHint: true } },
];

async function resultOf({ method, params = {} }: Message): Promise<object> {
  if (method === "initialize") {
    const serverInfo = { name: "journal", version: "1.0.0" };
    return { result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } };
  }
  if (method === "tools/list") return { result: { tools } };
  if (method !== "tools/call") return { error: { code: -32_601, message: `unknown: ${method}` } };
  const { word = "" } = params.arguments ?? {};
  if (params.name === "note") {
    journalRun(journal, "note", word);
    await sleep(toolMs("note", word));
  }
  const times = runsIn(journal).filter((run) => run.tool === "note" && run.word === word).length;
  return { result: { content: [{ type: "text", text: `${word} is noted ${times} times` }] } };
}

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id === undefined) return;
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, ...(await resultOf(message)) })}\n`);
  })
  .on("close", () => process.exit(0));
