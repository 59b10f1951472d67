/**
 * An MCP server: the messages of the protocol, answered as its specification says, over standard streams where this
 * file is run as a program (`http-server.ts` serves the same over HTTP). Arguments of the program: `noise` also writes
 * lines that are no messages, `silent` never answers, `crash` ends at once, `many` has a hundred more tools, `flood`
 * says a hundred times that its tools have changed and notes each listing, `grandchild` starts a process that ignores
 * the end of its input, `stubborn` ignores that as well, and SIGTERM, and starts such processes in its session and in
 * one of their own, `endless` answers a call with a line that never ends, `junk` writes what is no message, 10,000
 * times, before it answers a call.
 */
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { burst, junkTexts } from "../../support/junk-texts.ts";

export interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
}

/** A picture of one red pixel. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

const text = (content: string, more: object = {}) => ({ content: [{ type: "text", text: content }], ...more });
const object = (properties: object = {}) => ({
  type: "object",
  properties,
  $schema: "http://json-schema.org/draft-07/schema#",
});

interface Tool {
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations?: object;
  run(args: { readonly [key: string]: unknown }, id: string | number): object | Promise<object>;
}

/** `note` writes down what the server did; `describe` is the description of `echo`. */
export function createFakeServer({
  note,
  describe,
  many = 0,
}: {
  readonly note: (what: string) => void;
  readonly describe: () => string;
  /** How many more tools it has. */
  readonly many?: number;
}) {
  const waiting = new Map<string | number, (result: object) => void>();
  const tools: Record<string, Tool> = {
    echo: {
      get description() {
        return describe();
      },
      inputSchema: object({ message: { type: "string" } }),
      annotations: { readOnlyHint: true },
      run: ({ message }) =>
        typeof message === "string" ? text(`Echo: ${message}`) : text("message is not a text", { isError: true }),
    },
    "get-env": { description: "The environment.", inputSchema: object(), run: () => text(JSON.stringify(process.env)) },
    "get-image": {
      description: "A picture.",
      inputSchema: object(),
      run: () => ({
        content: [
          { type: "text", text: "Here it is." },
          { type: "image", data: pixel, mimeType: "image/png" },
        ],
      }),
    },
    structured: {
      description: "Data.",
      inputSchema: object(),
      run: () => ({ content: [], structuredContent: { degrees: 21 } }),
    },
    wait: {
      description: "Waits until it is cancelled.",
      inputSchema: object(),
      run: (_, id) => {
        note(`wait ${process.pid}`);
        return new Promise((resolve) => waiting.set(id, resolve));
      },
    },
  };

  for (let index = 0; index < many; index += 1)
    tools[`tool-${index}`] = { description: `Number ${index}.`, inputSchema: object(), run: () => text(String(index)) };

  return async ({ id, method, params = {} }: Message): Promise<object | undefined> => {
    if (method === "notifications/cancelled") {
      note(`cancelled ${params.requestId}`);
      waiting.delete(params.requestId as string);
    }
    if (id === undefined) return undefined;
    const answer = (result: object) => ({ jsonrpc: "2.0", id, result });
    if (method === "initialize") {
      const serverInfo = { name: process.env.FAKE_NAME ?? "fake", version: "1.2.3" };
      return answer({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo,
      });
    }
    // In two pages, as servers with many tools list them.
    if (method === "tools/list") {
      const all = Object.entries(tools).map(([name, { run: _, ...tool }]) => ({ name, ...tool }));
      return answer(params.cursor === "2" ? { tools: all.slice(2) } : { tools: all.slice(0, 2), nextCursor: "2" });
    }
    const tool = method === "tools/call" ? tools[String(params.name)] : undefined;
    if (tool !== undefined)
      return answer(await tool.run((params.arguments ?? {}) as object as Record<string, unknown>, id));
    return {
      jsonrpc: "2.0",
      id,
      error: { code: method === "tools/call" ? -32_602 : -32_601, message: `unknown: ${method} ${params.name}` },
    };
  };
}

/** Where a program notes what it did, and from where it reads what `echo` is described as. */
const notes = process.env.FAKE_NOTES;
const description = process.env.FAKE_DESCRIPTION;

function serveStreams(): void {
  const has = (word: string) => process.argv.includes(word);
  const send = (message: object) => void process.stdout.write(`${JSON.stringify(message)}\n`);
  const handle = createFakeServer({
    note: (what) => notes !== undefined && appendFileSync(notes, `${what}\n`),
    many: has("many") ? 100 : 0,
    describe: () => (description === undefined ? "Says it again." : readFileSync(description, "utf8")),
  });
  if (notes !== undefined) appendFileSync(notes, `start ${process.pid}\n`);
  if (has("crash")) {
    process.stderr.write(`fake: cannot read the key ${process.env.FAKE_KEY}\n`);
    process.exit(3);
  }
  if (has("noise")) process.stdout.write("Server is listening\n{ not json\n");
  if (has("grandchild")) {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    if (notes !== undefined) appendFileSync(notes, `grandchild ${child.pid}\n`);
  }
  if (has("stubborn")) {
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1_000);
    for (const detached of [false, true]) {
      const script = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)';
      const child = spawn(process.execPath, ["-e", script], { stdio: "ignore", detached });
      if (notes !== undefined) appendFileSync(notes, `child ${child.pid}\n`);
    }
  }
  createInterface({ input: process.stdin })
    .on("line", async (line) => {
      if (has("silent")) return;
      if (has("endless") && line.includes("tools/call")) {
        const write = () => void process.stdout.write("x".repeat(1_000_000), () => setImmediate(write));
        return write();
      }
      if (has("junk") && line.includes("tools/call")) {
        const lines = `${junkTexts.join("\n")}\n${"null\n".repeat(burst)}`;
        process.stderr.write(lines);
        process.stdout.write(lines);
      }
      if (has("flood") && notes !== undefined && line.includes("tools/list")) appendFileSync(notes, "list\n");
      const answer = await handle(JSON.parse(line) as Message);
      if (answer !== undefined) send(answer);
      if (has("noise")) process.stdout.write("answered\n");
    })
    .on("close", () => has("stubborn") || process.exit(0));
  process.on("SIGUSR2", () => {
    for (let count = has("flood") ? 100 : 1; count > 0; count -= 1)
      send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  });
}

if (process.argv[1] === import.meta.filename) serveStreams();
