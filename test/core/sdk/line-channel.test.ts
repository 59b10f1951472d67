/** A channel of lines that is made of its protocol, against a server of this test. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Json } from "service-gateway/sdk";
import { type ChannelStatus, createLineChannel, type LineProtocol, type Part, textParts } from "service-gateway/sdk/channel";
import { expect, onTestFinished, test } from "vitest";

const part: Part = { kind: "text", chars: 2, body: "hi" };
const never = new AbortController().signal;
const to = (chat: string) => ({ channel: "acme", account: "default", chat });

/** A server, and a channel at it that differs by `change`. */
async function open(change: Partial<LineProtocol> = {}, receive: (raw: Json) => Promise<unknown> = async () => ({})) {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    let rest = "";
    socket.setEncoding("utf8").on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk: string) => {
      const found = `${rest}${chunk}`.split("\r\n");
      rest = found.pop() ?? "";
      for (const line of found) {
        lines.push(line);
        if (line === "HELLO") socket.write("WELCOME\r\n");
        if (line.startsWith("PING ")) socket.write(`${line.replace("PING", "PONG")}\r\n`);
        if (line.startsWith("SAY Hall")) socket.write("NO HALL\r\n");
      }
    });
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const closing = new AbortController();
  const statuses: ChannelStatus[] = [];
  const warnings: string[] = [];
  const log = { trace() {}, debug() {}, info() {}, error() {}, warn: (_: object, message: string) => void warnings.push(message) };
  let ids = 0;
  const stored: boolean[] = [];
  const account = {
    options: { server: "127.0.0.1", port: (listener.address() as AddressInfo).port, tls: false, maxChars: 3 },
    log,
    signal: closing.signal,
    status: (status: ChannelStatus) => void statuses.push(status),
    now: () => Date.now(),
    newId: () => `id-${ids++}`,
    calling: () => () => {},
    receive: receive as never,
  };
  const connection = createLineChannel(account, {
    ping: (token) => `PING ${token}`,
    begin(link) {
      link.write("HELLO");
      return {
        onLine(line) {
          const [word, rest = ""] = line.split(" ");
          if (word === "WELCOME") link.welcome({ id: "1" }, "The bot is not in #hall.");
          if (word === "PONG") link.confirm(rest);
          if (word === "NO") link.reject(rest, Object.assign(new Error("no"), { reason: "no" }) as never);
          if (word === "MESSAGE") void link.receive({ rest }).then((is) => stored.push(is));
        },
      };
    },
    message: (text, recipient) => `SAY ${recipient} ${text}`,
    parse: () => undefined,
    render: (reply) => textParts(reply, { limit: 10 }),
    ...change,
  });
  onTestFinished(async () => {
    closing.abort();
    await connection.close();
    listener.close();
    for (const socket of sockets) socket.destroy();
  });
  const say = (line: string) => {
    for (const socket of sockets) socket.write(`${line}\r\n`);
  };
  return { connection, lines, statuses, warnings, stored, sockets, say };
}

test("is connected with what the operator should know, and says each text in its line", async () => {
  const { connection, statuses, lines } = await open();
  await connection.start();
  expect(statuses.at(-1)).toMatchObject({ state: "connected", identity: { id: "1" }, detail: "The bot is not in #hall." });
  expect(await connection.send(part, to("#room"), never)).toEqual({ messageId: expect.stringMatching(/^id-/) });
  expect(lines).toContain("SAY #room hi");
});

test("a chat is reached where the protocol says; an id that is not one word is refused before anything is written", async () => {
  const { connection, lines } = await open();
  await connection.start();
  for (const chat of ["a b", "a\r\nQUIT", "", "a\u0000"])
    await expect(connection.send(part, to(chat), never)).rejects.toMatchObject({ reason: "chat_not_found", retryable: false });
  expect(lines.filter((line) => line.startsWith("SAY"))).toEqual([]);
  const other = await open({ reach: async (chat) => `${chat}_away` });
  await other.connection.start();
  await other.connection.send(part, to("ada"), never);
  expect(other.lines).toContain("SAY ada_away hi");
});

test("a refusal is known by the folded recipient", async () => {
  const { connection } = await open({ fold: (recipient) => recipient.toLowerCase() });
  await connection.start();
  await expect(connection.send(part, to("Hall"), never)).rejects.toMatchObject({ reason: "no" });
});

test("a message that cannot be stored is reported to the protocol and to the log, and never thrown", async () => {
  let isFull = true;
  const { connection, say, stored, warnings } = await open({}, async () => {
    if (isFull) throw new Error("the disk is full");
  });
  await connection.start();
  say("MESSAGE one");
  await expect.poll(() => stored).toEqual([false]);
  isFull = false;
  say("MESSAGE two");
  await expect.poll(() => stored).toEqual([false, true]);
  expect(warnings).toEqual(["a message could not be stored"]);
});

test("a protocol that throws as it begins leaves no socket open", async () => {
  const { connection, statuses, sockets } = await open({
    begin() {
      throw new Error("The protocol has no nick");
    },
  });
  await connection.start();
  expect(statuses.at(-1)).toMatchObject({ state: "waiting", detail: expect.stringContaining("The protocol has no nick.") });
  // Time for a connection that was left to arrive.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(sockets.size).toBe(0);
});

test("messages keep the pace that the protocol names; without one there is no limit", async () => {
  const { connection } = await open({ pace: { burst: 1, everyMs: 60_000 } });
  const stop = new AbortController();
  expect(connection.admit?.(part, to("#room"), never)).toBeUndefined();
  const waiting = connection.admit?.(part, to("#room"), stop.signal);
  expect(waiting).toBeInstanceOf(Promise);
  stop.abort();
  await waiting;
  expect((await open()).connection.admit).toBeUndefined();
});

test("the lead of a reply is never a message of its own", () => {
  const bodies = (text: string, limit = 20) =>
    textParts({ text }, { limit, unit: "bytes", eachLine: true, lead: "ada: " }).map(({ body }) => body);
  expect(bodies("https://example.com/a/long/path")).toEqual(["ada: https://example", ".com/a/long/path"]);
  expect(bodies("hello you there, again\nbye")).toEqual(["ada: hello you", "there, again", "bye"]);
  expect(bodies("ä".repeat(12))).toEqual([`ada: ${"ä".repeat(7)}`, "ä".repeat(5)]);
  // There is no room for more than the lead.
  expect(bodies("hello", 8)).toEqual(["ada:", "hello"]);
});
