/**
 * A gateway in a process of its own with channels that make every fault on demand, and one that goes on beside them.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { freePort } from "../../support/ports.ts";
import { type AtEnd, type Started, start, temporaryHome } from "../cli/command.ts";
import { run } from "../cli/command-runner.ts";

export type Isolation = "inline" | "worker";

/** What a request to the faulty channel sets off, outside of every call of the gateway. */
export const faults = {
  rejection: "void Promise.reject(new Error('nobody cares'));",
  uncaught: "setTimeout(() => { throw new Error('thrown by a timer'); });",
  exit: "process.exit(3);",
  // Both for longer than the heartbeats of a worker may be missed. The first one naps in its thread: other tests have
  // the processor.
  loop:
    "const end = Date.now() + (isMainThread ? 1_500 : 10_000); while (Date.now() < end) " +
    "Atomics.wait(still, 0, 0, 10);",
  // A whole processor while it begins, and again when it is ended, after five seconds. Between them it naps as well.
  "busy loop":
    "const begun = Date.now(); for (let ms = 0; ms < 10_000; ms = Date.now() - begun) if (ms > 1_000 && ms " +
    "< 4_800) Atomics.wait(still, 0, 0, 10);",
  // Fractions, because the collector of garbage looks through an array of anything else, each time that the memory runs
  // out.
  memory: "const all = []; for (;;) all.push(new Array(1_000_000).fill(0.5)); ",
  // Heartbeats are answered between the buffers: on a busy machine the whole takes longer than they may be missed.
  buffers:
    "globalThis.kept = []; for (let n = 0; n < 10; n += 1) { globalThis.kept.push(Buffer.alloc(64 * " +
    "1_048_576, n)); await setImmediate(); }",
} as const;

export type Fault = keyof typeof faults;

/**
 * A channel of HTTP: a message is a request, the reply to it is the answer. A request with ` & ` is several messages at
 * once. JavaScript without the SDK, which loads nothing else.
 */
function channelSource(id: string): string {
  const cases = Object.entries(faults).map(
    ([name, code]) => `if (text === "fault ${name}") { ${code} response.end("begun"); return; }`,
  );
  return `
import { once } from "node:events";
import { createServer } from "node:http";
import { setImmediate } from "node:timers/promises";
import { isMainThread } from "node:worker_threads";

const still = new Int32Array(new SharedArrayBuffer(4));

const channel = {
  id: "${id}", version: "1.0.0", host: "^0.2.0",
  options: { type: "object", required: ["port"], properties: { port: { type: "integer" } } },
  capabilities: { maxChars: 400 },
  open(account) {
    const waiting = new Map();
    const server = createServer(async (request, response) => {
      let text = "";
      for await (const piece of request) text += piece;
      ${cases.join("\n      ")}
      await Promise.all(text.split(" & ").map(async (one) => {
        const chat = account.newId();
        waiting.set(chat, response);
        await account.receive({ text: one, chat, at: account.now() }, { id: chat, lane: "${id}:default:" + chat });
      }));
    });
    return {
      async start() {
        server.listen(account.options.port, "127.0.0.1");
        await once(server, "listening");
        account.status({ state: "connected", lastContactAt: account.now() });
      },
      parse(raw) {
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
};
export default { id: "${id}", version: "1.0.0", host: "^0.2.0", channel, setup: (host) => host.channel(channel) };`;
}

export interface Room {
  readonly gateway: Started;
  /** Sends a message to a channel; resolves with the reply. */
  say(channel: string, text: string): Promise<string>;
  /** Sets a fault off; whether there is an answer depends on the fault. Default: in the channel `faulty`. */
  setOff(fault: Fault, channel?: string): Promise<void>;
  /** Resolves when a channel replies, whose listener may be away at first. */
  replies(channel: string): Promise<void>;
  /** What is known of the worker of a channel. */
  workerOf(channel: string): Promise<Worker | undefined>;
  /** A command of the command line, with `--json`. */
  ask<T>(...args: readonly string[]): Promise<T>;
  readonly home: string;
}

interface Worker {
  readonly state: string;
  readonly restarts: number;
  readonly lastEnd?: { readonly reason: string };
}

interface Listed {
  readonly plugins: readonly { readonly id: string; readonly worker?: Worker }[];
}

export async function openRoom(
  isolation: Isolation,
  {
    faulty = ["faulty"],
    atEnd,
    ...how
  }: {
    /** The names of the channels that make faults. */
    readonly faulty?: readonly string[];
    readonly nodeArgs?: readonly string[];
    readonly main?: string;
    readonly atEnd?: AtEnd;
  } = {},
): Promise<Room> {
  const home = temporaryHome(atEnd);
  const ids = [...faulty, "steady"];
  const ports = new Map(await Promise.all(ids.map(async (id) => [id, await freePort()] as const)));
  const directory = join(home, ".service");
  for (const id of ids) {
    mkdirSync(join(directory, id), { recursive: true });
    writeFileSync(join(directory, id, "index.mjs"), channelSource(id));
  }
  const open = { dmPolicy: "open", allowFrom: ["*"] };
  const config = {
    gateway: { port: 0 },
    plugins: {
      load: ids.map((id) => `./${id}`),
      entries: { ...Object.fromEntries(faulty.map((id) => [id, { isolation }])), echo: { options: { delayMs: 0 } } },
    },
    channels: Object.fromEntries(ids.map((id) => [id, { port: ports.get(id), ...open }])),
  };
  writeFileSync(join(directory, "config.jsonc"), JSON.stringify(config));
  const gateway = start(["gateway"], { home, ...how, ...(atEnd && { atEnd }) });
  for (const id of ids) await gateway.until(new RegExp(`"channel":"${id}"[^\\n]*channel connected`));
  const post = async (channel: string, body: string) =>
    await (await fetch(`http://127.0.0.1:${ports.get(channel)}/`, { method: "POST", body })).text();
  const room: Room = {
    gateway,
    home,
    say: post,
    async setOff(fault, channel = "faulty") {
      await post(channel, `fault ${fault}`).catch(() => {});
    },
    async replies(channel) {
      await vi.waitFor(async () => expect(await post(channel, "afterwards")).toContain("afterwards"), {
        timeout: 60_000,
        interval: 200,
      });
    },
    workerOf: async (channel) =>
      (await room.ask<Listed>("plugins", "list")).plugins.find(({ id }) => id === channel)?.worker,
    ask: async (...args) => JSON.parse((await run([...args, "--json"], { home })).out),
  };
  return room;
}
