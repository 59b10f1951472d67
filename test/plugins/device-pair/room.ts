/** A gateway with the plugin, an owner who writes to it, and a device that talks HTTP. */
import { onTestFinished } from "vitest";
import devicePair from "../../../plugins/device-pair/index.ts";
import { removeDirectory } from "../../support/directory.ts";
import { createLoopback, type Loopback, repeat, startGateway, type TestGateway } from "../../support/gateway.ts";

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

export interface Room extends TestGateway {
  readonly chat: Loopback;
  /** Time passes for the gateway. */
  wait(seconds: number): void;
  /** Sets the wall clock, while no time passes. */
  setClock(seconds: number): void;
  /** The owner writes; resolves with the answer. */
  say(text: string, from?: Parameters<Loopback["say"]>[1]): Promise<string>;
  /** `/pair`, and the code of the answer. */
  code(): Promise<string>;
  /** `from`: the address that a trusted proxy names. */
  ask(code: string, name?: string, from?: string): Promise<Answer>;
  collect(id: unknown, secret: unknown): Promise<Answer>;
  /** A management route with a token. */
  describe(token: unknown): Promise<number>;
  /** A whole pairing; its token. */
  pair(name?: string): Promise<{ readonly id: string; readonly token: string }>;
}

export async function openRoom(
  options: { readonly plugin?: object; readonly directory?: string; readonly trustedProxies?: readonly string[] } = {},
): Promise<Room> {
  const chat = createLoopback();
  const clock = { ahead: 0, set: 0 };
  const elapsed = performance.now;
  performance.now = () => elapsed.call(performance) + clock.ahead;
  onTestFinished(() => {
    performance.now = elapsed;
  });
  const running = await startGateway({
    ...(options.directory === undefined ? {} : { directory: options.directory }),
    config: {
      gateway: { port: 0, drainSeconds: 2, trustedProxies: options.trustedProxies ?? [] },
      agents: { defaults: { engine: "scripted" } },
      channels: {
        loopback: {
          dmPolicy: "open",
          allowFrom: ["7", "*"],
          groupPolicy: "open",
          groups: { "*": { requireMention: false } },
        },
      },
      plugins: { entries: { "device-pair": { options: options.plugin ?? {} } } },
    },
    plugins: [devicePair, chat.plugin, repeat],
    gateway: { now: () => Date.now() + clock.ahead + clock.set },
  });
  onTestFinished(async () => {
    await running.gateway.close();
    removeDirectory(running.directory);
  });
  const call = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(`${running.gateway.url}${path}`, init);
    return {
      status: response.status,
      body: (await response.json()) as Record<string, unknown>,
      headers: response.headers,
    };
  };
  const room: Room = {
    ...running,
    chat,
    wait(seconds) {
      clock.ahead += seconds * 1_000;
    },
    setClock(seconds) {
      clock.set += seconds * 1_000;
    },
    async say(text, from) {
      const before = chat.sent.length;
      await running.settled(await chat.say(text, from));
      return chat.sent
        .slice(before)
        .map((sent) => sent.text)
        .join("\n");
    },
    code: async () => /`([A-Z2-9]{8})`/.exec(await room.say("/pair"))?.[1] ?? "",
    async ask(code, name = "Laptop", from) {
      const before = chat.sent.length;
      const headers = {
        "content-type": "application/json",
        ...(from === undefined ? {} : { "x-forwarded-for": from }),
      };
      const answer = await call("/devices/pair", { method: "POST", headers, body: JSON.stringify({ code, name }) });
      // It is told in the chat, which must not look like an answer to what is written there next.
      if (answer.status === 202) await chat.sentCount(before + 1);
      return answer;
    },
    collect: (id, secret) => call(`/devices/pair/${id}`, { headers: { authorization: `Bearer ${secret}` } }),
    describe: async (token) =>
      (await call("/gateway/describe", { headers: { authorization: `Bearer ${token}` } })).status,
    async pair(name) {
      const { body } = await room.ask(await room.code(), name);
      await room.say("/pair approve");
      const collected = await room.collect(body.id, body.secret);
      return { id: String(body.id), token: String(collected.body.token) };
    },
  };
  return room;
}
