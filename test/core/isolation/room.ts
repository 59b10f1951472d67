/** A gateway in a process of its own with two channels: one makes every fault on demand, the other goes on beside it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../support/ports.ts";
import { run, type Started, start, temporaryHome } from "../cli/command.ts";

export type Isolation = "inline" | "worker";

/** What a request to the faulty channel sets off, outside of every call of the gateway. */
export const faults = {
  rejection: "void Promise.reject(new Error('nobody cares'));",
  uncaught: "setTimeout(() => { throw new Error('thrown by a timer'); });",
  exit: "process.exit(3);",
  loop: "const end = Date.now() + 10_000; while (Date.now() < end);",
  memory: "const all = []; for (;;) all.push(new Array(1_000_000).fill(all.length)); ",
  buffers: "globalThis.kept = Array.from({ length: 16 }, (_, index) => Buffer.alloc(64 * 1_048_576, index));",
} as const;

export type Fault = keyof typeof faults;

/** A channel of HTTP: a message is a request, the reply to it is the answer. */
function channelSource(id: string): string {
  const cases = Object.entries(faults).map(([name, code]) => `if (text === "fault ${name}") { ${code} response.end("begun"); return; }`);
  return `
import { once } from "node:events";
import { createServer } from "node:http";
import { Type } from "service-gateway/sdk";
import { defineChannel } from "service-gateway/sdk/channel";

export default defineChannel({
  id: "${id}", version: "1.0.0", host: "^0.1.0",
  options: Type.Object({ port: Type.Integer() }),
  capabilities: { maxChars: 400 },
  open(account) {
    const waiting = new Map();
    const server = createServer(async (request, response) => {
      let text = "";
      for await (const piece of request) text += piece;
      ${cases.join("\n      ")}
      const chat = account.newId();
      waiting.set(chat, response);
      await account.receive({ text, chat, at: account.now() }, { id: chat, lane: "${id}:default:" + chat });
    });
    return {
      async start() {
        server.listen(account.options.port, "127.0.0.1");
        await once(server, "listening");
        account.status({ state: "connected", lastContactAt: account.now() });
      },
      parse(raw: any) {
        if (raw?.text === "throw in parse") throw new Error("no parse today");
        if (raw?.text === "exit in parse") process.exit(4);
        return typeof raw?.text === "string"
          ? { kind: "message", chat: { id: raw.chat, kind: "direct" }, sender: { id: "7" }, text: raw.text, media: [], mention: true, timestamp: raw.at }
          : undefined;
      },
      render: ({ text }) => [{ kind: "text", chars: text.length, body: text }],
      async send(part, { chat }) {
        if (String(part.body).includes("hang in send")) return await new Promise(() => {});
        waiting.get(chat)?.end(String(part.body));
        return { messageId: account.newId() };
      },
      async close() {
        server.closeAllConnections();
        server.close();
      },
    };
  },
});`;
}

export interface Room {
  readonly gateway: Started;
  /** Sends a message to a channel; resolves with the reply. */
  say(channel: "faulty" | "steady", text: string): Promise<string>;
  /** Sets a fault off; whether there is an answer depends on the fault. */
  setOff(fault: Fault): Promise<void>;
  /** A command of the command line, with `--json`. */
  ask<T>(...args: readonly string[]): Promise<T>;
  readonly home: string;
}

export async function openRoom(isolation: Isolation, how: { readonly nodeArgs?: readonly string[] } = {}): Promise<Room> {
  const home = temporaryHome();
  const ports = { faulty: await freePort(), steady: await freePort() };
  const directory = join(home, ".service");
  for (const id of ["faulty", "steady"]) {
    mkdirSync(join(directory, id), { recursive: true });
    writeFileSync(join(directory, id, "index.ts"), channelSource(id));
  }
  const open = { dmPolicy: "open", allowFrom: ["*"] };
  const config = {
    gateway: { port: 0 },
    plugins: { load: ["./faulty", "./steady"], entries: { faulty: { isolation } } },
    channels: { faulty: { port: ports.faulty, ...open }, steady: { port: ports.steady, ...open } },
  };
  writeFileSync(join(directory, "config.jsonc"), JSON.stringify(config));
  const gateway = start(["gateway"], { home, ...how });
  await gateway.until(/faulty[^\n]*channel connected/);
  await gateway.until(/steady[^\n]*channel connected/);
  const post = async (port: number, body: string) => await (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body })).text();
  return {
    gateway,
    home,
    say: (channel, text) => post(ports[channel], text),
    async setOff(fault) {
      await post(ports.faulty, `fault ${fault}`).catch(() => {});
    },
    ask: async (...args) => JSON.parse((await run([...args, "--json"], { home })).out),
  };
}
