/** A small model server: it answers with the last message, word by word, as lines of JSON. */
import { createServer, type ServerResponse } from "node:http";
import type { EngineContractOptions, ModelAbility, ModelFailure, ModelServer } from "service-gateway/testkit";
import { reservePort } from "../../../support/ports.ts";
import type { Line } from "./sailor.ts";

const key = "harbour-key-7719";

const statuses: Partial<Record<ModelFailure, number>> = {
  busy: 429,
  full: 413,
  quota: 402,
  unauthorized: 401,
  unavailable: 503,
  unknown: 404,
};

const abilities: readonly ModelAbility[] = [
  ...([
    "away",
    "busy",
    "cut",
    "empty",
    "full",
    "garbled",
    "hang",
    "quota",
    "unauthorized",
    "unavailable",
    "unknown",
  ] satisfies ModelFailure[]),
  "tools",
];

const write = (response: ServerResponse, line: Line) => void response.write(`${JSON.stringify(line)}\n`);

function answer(response: ServerResponse, words: readonly string[], failure: ModelFailure | undefined): void {
  const status = failure === undefined ? undefined : statuses[failure];
  if (status !== undefined) return void response.writeHead(status).end(`The key ${key} is wrong.`);
  if (failure === "garbled") return void response.end("<html>\n");
  for (const word of failure === "empty" ? [] : words) {
    write(response, { text: word });
    if (failure === "hang") return;
    if (failure === "cut") return void setTimeout(() => response.destroy(), 20);
  }
  write(response, { end: true });
  response.end();
}

async function openHarbour(): Promise<ModelServer> {
  const requests: string[] = [];
  let running = 0;
  let failure: ModelFailure | undefined;
  let call: Line | undefined;
  const server = createServer((request, response) => {
    running += 1;
    response.on("close", () => {
      running -= 1;
    });
    let text = "";
    request.on("data", (chunk) => {
      text += String(chunk);
    });
    request.on("end", () => {
      requests.push(text);
      response.setHeader("connection", "close");
      const { messages, notes } = JSON.parse(text) as {
        readonly messages: readonly string[];
        readonly notes: readonly string[];
      };
      if (call !== undefined) {
        write(response, call);
        call = undefined;
        return void response.end();
      }
      const words = (notes.at(-1) ?? messages.at(-1) ?? "").split(/(?<= )/);
      // Nothing to answer.
      if (words.join("").trim() === "" && failure === undefined) return void response.writeHead(400).end();
      answer(response, words, failure);
    });
  });
  // While the server is away, an engine must not reach another one at its port.
  const { port, release } = await reservePort();
  await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    turn: {
      model: "sea/calm",
      providers: { sea: { api: "openai-compatible", baseUrl: `http://127.0.0.1:${port}`, apiKey: key } },
    },
    async fail(how) {
      if (how === "away") await close();
      else failure = how;
    },
    callTool(tool, args) {
      call = { tool, args };
    },
    requests: () => requests,
    running: () => running,
    async close() {
      await close();
      release();
    },
  };
}

export const contractOf = (engine: EngineContractOptions["engine"]): EngineContractOptions => ({
  engine,
  server: { can: abilities, open: openHarbour },
});
