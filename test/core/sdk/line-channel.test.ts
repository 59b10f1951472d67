/** A channel of lines that is made of its protocol, against a server of this test. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type Json, Type } from "service-gateway/sdk";
import {
  type ChannelDefinition,
  type ChannelStatus,
  type LineHandlers,
  type LineLink,
  type LineProtocol,
  type Part,
  readMention,
  type Static,
  textParts,
} from "service-gateway/sdk/channel";
import { expect, onTestFinished, test } from "vitest";
import { createLineConnection } from "../../../core/sdk/lines/channel.ts";

const part: Part = { kind: "text", chars: 2, body: "hi" };
const never = new AbortController().signal;
const to = (chat: string) => ({ channel: "acme", account: "default", chat });

const said = Type.Object({ from: Type.String(), text: Type.String() });
type Said = Static<typeof said>;

/** A line of the server: its words. */
interface Line {
  readonly command: string;
  readonly words: readonly string[];
}

function read(text: string): Line {
  const [command = "", ...words] = text.split(" ");
  return { command, words };
}

/** What every protocol of these tests understands. */
function basics<E extends object>(link: LineLink<E>): LineHandlers<Line> {
  link.write("HELLO");
  return { WELCOME: () => link.welcome(), PONG: ({ words: [token = ""] }) => link.confirm(token) };
}

/** A server, and a channel at it that differs by `change`. `kept` is what its store has. */
async function open(
  { identity = {}, ...change }: Partial<LineProtocol<Line, Said>> & Pick<ChannelDefinition, "identity"> = {},
  receive: (raw: Json) => Promise<unknown> = async () => ({}),
  kept = new Map<string, Json>(),
) {
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
  const log = {
    trace() {},
    debug() {},
    info() {},
    error() {},
    warn: (_: object, message: string) => void warnings.push(message),
  };
  let ids = 0;
  const store = {
    get: async (key: string) => kept.get(key) ?? null,
    set: async (key: string, value: Json) => void kept.set(key, value),
    delete: async (key: string) => kept.delete(key),
  };
  const account = {
    options: { server: "127.0.0.1", port: (listener.address() as AddressInfo).port, tls: false, maxChars: 3 },
    log,
    signal: closing.signal,
    status: (status: ChannelStatus) => void statuses.push(status),
    now: () => Date.now(),
    newId: () => `id-${ids++}`,
    calling: () => () => {},
    receive: receive as never,
    store: store as never,
  };
  const protocol: LineProtocol<Line, Said> = {
    read,
    ping: (token) => `PING ${token}`,
    begin: (link) => ({
      ...basics(link),
      WELCOME: () => link.welcome({ id: "1" }, "It is Sunday."),
      NO: ({ words: [about = ""] }) => link.reject(about, "no", { detail: "It is full" }),
      IN: ({ words: [room = "", who] }) => link.inRoom(room, who),
      OUT: ({ words: [room = "", who] }) => link.outOfRoom(room, "It is closed", who),
      MESSAGE: ({ words: [from = ""] }) => link.receive({ from, text: "hi" }),
      RENAMED: ({ words: [next = ""] }) => link.renamed("ada_here", next),
      LEFT: ({ words: [who = ""] }) => link.left(who),
    }),
    message: (text, recipient) => `SAY ${recipient} ${text}`,
    event: said,
    address: ({ from }) => (from.startsWith("#") ? undefined : `${from}_here`),
    parse: ({ from, text }) => ({ chat: { id: from, kind: "direct" }, sender: { id: from }, text }),
    render: (reply) => textParts(reply, { limit: 10 }),
    ...change,
  };
  const connection = createLineConnection(account, protocol, { identity, maxChars: 10 });
  onTestFinished(async () => {
    closing.abort();
    await connection.close();
    listener.close();
    for (const socket of sockets) socket.destroy();
  });
  const say = (line: string) => {
    for (const socket of sockets) socket.write(`${line}\r\n`);
  };
  return { connection, lines, statuses, warnings, sockets, say };
}

test("the connection is reported with a note for the operator, and each text is sent as its own line", async () => {
  const { connection, statuses, lines } = await open();
  await connection.start();
  expect(statuses.at(-1)).toMatchObject({ state: "connected", identity: { id: "1" }, detail: "It is Sunday." });
  expect(await connection.send(part, to("#room"), never)).toEqual({ messageId: expect.stringMatching(/^id-/) });
  expect(lines).toContain("SAY #room hi");
});

test("a chat is reached at the protocol's address; an id of several words is rejected before sending", async () => {
  const { connection, lines } = await open();
  await connection.start();
  for (const chat of ["a b", "a\r\nQUIT", "", "a\u0000"])
    await expect(connection.send(part, to(chat), never)).rejects.toMatchObject({
      reason: "chat_not_found",
      retryable: false,
    });
  expect(lines.filter((line) => line.startsWith("SAY"))).toEqual([]);
  const other = await open({ reach: async (chat) => `${chat}_away` });
  await other.connection.start();
  await other.connection.send(part, to("ada"), never);
  expect(other.lines).toContain("SAY ada_away hi");
});

test("a chat id names a person or a room; an id with an unknown address is rejected with a reason", async () => {
  const { connection, lines } = await open({
    identity: { pattern: "~?[a-z]+", groupPattern: "#[a-z]+" },
    reach: (chat, address) => address ?? /^[~#](.*)/.exec(chat)?.[0],
  });
  await connection.start();
  for (const chat of ["ada,eve", "#hall,#bar", "$*", "ada b"])
    await expect(connection.send(part, to(chat), never)).rejects.toThrow(
      "This is the id of neither a person nor a room",
    );
  await expect(connection.send(part, to("ada"), never)).rejects.toMatchObject({
    reason: "chat_not_found",
    message: "It is not known where this person is reached",
    hint: "They have to write to the bot first.",
  });
  for (const chat of ["~ada", "#bar"]) await connection.send(part, to(chat), never);
  expect(lines.filter((line) => line.startsWith("SAY"))).toEqual(["SAY ~ada hi", "SAY #bar hi"]);
});

test("a line without a handler goes to the fallback, even if named like an object's built-in property", async () => {
  const others: string[] = [];
  const { connection, say } = await open({ otherwise: ({ command }) => void others.push(command) });
  await connection.start();
  for (const line of ["constructor", "toString x", "", "MESSAGE ada", "NEWS"]) say(line);
  await expect.poll(() => others).toEqual(["constructor", "toString", "", "NEWS"]);
  await connection.send(part, to("ada"), never);
});

test("a refusal is matched by the case-folded recipient", async () => {
  const { connection } = await open({ identity: { fold: (recipient) => recipient.toLowerCase() } });
  await connection.start();
  await expect(connection.send(part, to("Hall"), never)).rejects.toMatchObject({ reason: "no" });
});

test("the sender of a message that cannot be stored is asked to repeat it, and the log gives the reason", async () => {
  let isFull = true;
  const full = async () => {
    if (isFull) throw new Error("the disk is full");
  };
  const { connection, say, lines, warnings } = await open({ askAgain: ({ from }) => `AGAIN ${from}` }, full);
  await connection.start();
  say("MESSAGE one");
  await expect.poll(() => lines).toContain("AGAIN one");
  isFull = false;
  say("MESSAGE two");
  await connection.send(part, to("ada"), never);
  expect(lines.filter((line) => line.startsWith("AGAIN"))).toEqual(["AGAIN one"]);
  expect(warnings).toEqual(["a message could not be stored"]);
});

test("the server has to wait while its messages are not stored yet", async () => {
  const stored: string[] = [];
  const held = Promise.withResolvers<void>();
  const { connection, say } = await open({}, async (raw) => {
    stored.push((raw as Said).from);
    await held.promise;
  });
  await connection.start();
  const names = Array.from({ length: 20_000 }, (_, index) => `n${index}`);
  say(names.map((name) => `MESSAGE ${name}`).join("\r\n"));
  await expect.poll(() => stored.length).toBeGreaterThanOrEqual(200);
  await new Promise((resolve) => setTimeout(resolve, 100));
  // One slice may take in more than are waited for.
  expect(stored.length).toBeLessThan(10_000);
  held.resolve();
  await expect.poll(() => stored.length).toBe(names.length);
  expect(stored).toEqual(names);
});

test("only events that match the schema reach parse", async () => {
  const { connection } = await open();
  expect(connection.parse({ from: "ada", text: "hi" })).toMatchObject({ sender: { id: "ada" } });
  for (const junk of [null, 1, "text", [], {}, { from: "ada" }, { from: "ada", text: 1 }])
    expect(connection.parse(junk as Json)).toBeUndefined();
});

test("a person is reached at the latest address, also after a change and after a restart", async () => {
  const kept = new Map<string, Json>();
  const { connection, say, lines } = await open({ identity: { fold: (name) => name.toLowerCase() } }, undefined, kept);
  await connection.start();
  say("MESSAGE Ada");
  await expect.poll(() => kept.size).toBe(1);
  await connection.send(part, to("ada"), never);
  say("RENAMED ada_away");
  await expect.poll(() => [...kept.values()]).toEqual(["ada_away"]);
  await connection.send(part, to("ada"), never);
  const later = await open({ identity: { fold: (name) => name.toLowerCase() } }, undefined, kept);
  await later.connection.start();
  await later.connection.send(part, to("ada"), never);
  await later.connection.send(part, to("eve"), never);
  expect(lines.filter((line) => line.startsWith("SAY"))).toEqual(["SAY Ada_here hi", "SAY ada_away hi"]);
  expect(later.lines.filter((line) => line.startsWith("SAY"))).toEqual(["SAY ada_away hi", "SAY eve hi"]);
});

test("the address of a person who left is deleted, because another person may now have the name", async () => {
  const kept = new Map<string, Json>();
  const { connection, say, lines } = await open({}, undefined, kept);
  await connection.start();
  say("MESSAGE ada");
  await expect.poll(() => kept.size).toBe(1);
  say("LEFT eve_here");
  await connection.send(part, to("ada"), never);
  say("LEFT ada_here");
  await expect.poll(() => kept.size).toBe(0);
  await connection.send(part, to("ada"), never);
  expect(lines.filter((line) => line.startsWith("SAY"))).toEqual(["SAY ada_here hi", "SAY ada hi"]);
});

/** A protocol that asks the server about the sender of each message but those of bob. */
const asking: Pick<LineProtocol<Line, Said>, "begin"> = {
  begin: (link) => ({
    ...basics(link),
    IS({ words: [answer = ""] }) {
      link.answer(answer);
      link.answered();
    },
    MESSAGE({ words: [from = ""] }) {
      const complete = async () => {
        const [text] = await link.ask(`WHO ${from}`);
        if (text === "nonsense") throw new Error("The answer made no sense");
        return text === undefined ? {} : { text };
      };
      link.receive({ from, text: "hi" }, from === "bob" ? {} : { complete });
    },
  }),
};

test("an event may query the server, and later events wait so that they are stored in order", async () => {
  const received: Json[] = [];
  const { connection, say, lines } = await open(asking, async (raw) => void received.push(raw));
  await connection.start();
  for (const line of ["MESSAGE ada", "MESSAGE eve", "MESSAGE bob"]) say(line);
  await expect.poll(() => lines).toContain("WHO ada");
  await connection.send(part, to("#room"), never);
  expect({ received, asked: lines.filter((line) => line.startsWith("WHO")) }).toEqual({
    received: [],
    asked: ["WHO ada"],
  });
  say("IS Ada");
  await expect.poll(() => lines).toContain("WHO eve");
  say("IS Eve");
  await expect
    .poll(() => received)
    .toEqual([
      { from: "ada", text: "Ada" },
      { from: "eve", text: "Eve" },
      { from: "bob", text: "hi" },
    ]);
});

test("a query that fails or is cut off by a lost connection loses no message", async () => {
  const received: Json[] = [];
  const { connection, say, lines, warnings, sockets } = await open(asking, async (raw) => void received.push(raw));
  await connection.start();
  for (const line of ["MESSAGE ada", "MESSAGE eve", "MESSAGE bob"]) say(line);
  await expect.poll(() => lines).toContain("WHO ada");
  say("IS nonsense");
  await expect.poll(() => lines).toContain("WHO eve");
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => received).toEqual(["ada", "eve", "bob"].map((from) => ({ from, text: "hi" })));
  expect(warnings).toEqual(["a message is stored without what the server had to be asked for"]);
});

test("a protocol without its own events reports sender, text and chat, and the rest is provided", async () => {
  const received: Json[] = [];
  const own = { event: undefined, parse: undefined, address: undefined, render: undefined } as object;
  const plain: Partial<LineProtocol<Line>> = {
    name: { wanted: "Bot", ask: (name) => `NAME ${name}` },
    nameLetters: "[]",
    begin: (link) => ({
      ...basics(link),
      WELCOME() {
        link.renamed("Bot", "Bot_");
        link.welcome();
      },
      HEARD({ words: [name = "", room = "", ...words] }) {
        const from = name === "eve" ? "Bot_" : name;
        link.receive({
          from,
          name,
          text: words.join(" "),
          room: room === "-" ? undefined : room,
          at: Number.NaN,
          address: `${name}_here`,
        });
      },
    }),
  };
  const { connection, say } = await open(
    { ...(plain as object), ...own, identity: { fold: (name: string) => name.toLowerCase() } },
    async (raw) => void received.push(raw),
  );
  await connection.start();
  const lines = [
    "HEARD ada - hi",
    "HEARD ada #hall bot_: hi",
    "HEARD ada #hall BOT, hi",
    "HEARD ada #hall hi",
    "HEARD bot_ #hall hi",
  ];
  for (const line of [...lines, "HEARD ada #hall  "]) say(line);
  // An account of another may be called like the bot; blank and own messages are not stored.
  say("HEARD eve - hello bot");
  await expect.poll(() => received.length).toBe(5);
  expect(received[0]).toEqual({ names: ["Bot_", "Bot"], from: "ada", name: "ada", text: "hi", address: "ada_here" });
  const ada = { id: "ada", name: "ada", username: "ada" };
  const hall = { id: "#hall", kind: "group", title: "#hall" };
  expect(received.map((raw) => connection.parse(raw))).toEqual([
    { chat: { id: "ada", kind: "direct" }, sender: ada, text: "hi", mention: true },
    { chat: hall, sender: ada, text: "hi", mention: true, mentionedByName: true },
    { chat: hall, sender: ada, text: "hi", mention: true, mentionedByName: true },
    { chat: hall, sender: ada, text: "hi", mention: false },
    {
      chat: { id: "Bot_", kind: "direct" },
      sender: { id: "Bot_", name: "eve", username: "eve" },
      text: "hello bot",
      mention: true,
      mentionedByName: true,
    },
  ]);
  expect(connection.render({ text: "**a**\nb", media: [], buttons: [] }, to("ada"))).toMatchObject([
    { body: "a" },
    { body: "b" },
  ]);
});

test("while its name is taken, the bot uses another, reports it, and requests its own once it is free", async () => {
  const { connection, say, lines, statuses } = await open({
    name: { wanted: "Bread", ask: (name) => `NAME ${name}` },
    identity: { fold: (name) => name.toLowerCase() },
    begin: (link) => ({
      ...basics(link),
      WELCOME() {
        for (let attempt = 0; attempt < 3; attempt += 1) link.nameTaken();
      },
      LETIN: () => link.welcome(),
      TAKEN: () => link.nameTaken(),
      CALLED: ({ words: [from = "", to = ""] }) => link.renamed(from, to),
      WHOM: ({ words: [name = ""] }) => link.write(`BOT ${link.isBot(name)}`),
      GONE: ({ words: [name = ""] }) => link.left(name),
    }),
  });
  const started = connection.start();
  const asked = () => lines.filter((line) => line.startsWith("NAME"));
  await expect.poll(asked).toEqual(["NAME Bread_", "NAME Bread_2", "NAME Bread_3"]);
  say("LETIN");
  await started;
  expect(statuses.at(-1)).toMatchObject({
    state: "connected",
    identity: { id: "Bread_3", username: "Bread_3" },
    detail: "The bot is called Bread_3 at the moment, because it did not get the name Bread.",
    code: "name_taken",
  });
  // Once as it was let in.
  await expect.poll(asked).toHaveLength(4);
  say("WHOM BREAD_3");
  await expect.poll(() => lines).toContain("BOT true");
  say("TAKEN");
  say("CALLED eve ada");
  say("GONE ada");
  say("CALLED bread crumb");
  await expect.poll(asked).toHaveLength(5);
  say("GONE BREAD");
  await expect.poll(asked).toHaveLength(6);
  expect(asked().slice(3)).toEqual(["NAME Bread", "NAME Bread", "NAME Bread"]);
  say("CALLED bread_3 Bread");
  await expect
    .poll(() => statuses.at(-1))
    .toMatchObject({ state: "connected", identity: { id: "Bread", username: "Bread" } });
  expect(statuses.at(-1)).not.toHaveProperty("detail");
});

test("rooms are joined at once and again after a removal; the operator reads which are missing and why", async () => {
  const { connection, say, lines, statuses } = await open({
    name: { wanted: "bot", ask: (name) => `NAME ${name}` },
    rooms: { names: ["#Hall", "#bar"], join: (room) => `JOIN ${room}` },
    identity: { fold: (name) => name.toLowerCase() },
  });
  await connection.start();
  const joins = () => lines.filter((line) => line.startsWith("JOIN"));
  await expect.poll(joins).toEqual(["JOIN #Hall", "JOIN #bar"]);
  say("IN #hall eve");
  say("IN #hall");
  say("NO #bar");
  say("NO #hall");
  say("NO #elsewhere");
  say("OUT #hall eve");
  await expect
    .poll(() => statuses.at(-1))
    .toMatchObject({ detail: "It is Sunday. The bot is not in #bar: It is full.", code: "room_refused" });
  say("OUT #hall");
  await expect
    .poll(() => statuses.at(-1)?.detail)
    .toContain("The bot is not in #Hall: It is closed. The bot is not in #bar");
  // The room that did not let it in is asked again a minute later, the one that it was removed from after a second.
  await expect.poll(joins).toEqual(["JOIN #Hall", "JOIN #bar", "JOIN #Hall"]);
  for (const room of ["#hall", "#bar"]) say(`IN ${room}`);
  await expect
    .poll(() => statuses.at(-1))
    .toMatchObject({ state: "connected", detail: "It is Sunday.", identity: { id: "1" } });
  expect(statuses.at(-1)).not.toHaveProperty("code");
});

test("a server that removes the bot again and again causes one wait, not one for each time", async () => {
  const { connection, lines, say, statuses } = await open({ rooms: { names: ["#a"], join: (room) => `JOIN ${room}` } });
  await connection.start();
  await expect.poll(() => lines.filter((line) => line === "JOIN #a")).toHaveLength(1);
  const waits = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = waits();
  say("IN #a\r\nOUT #a\r\n".repeat(5_000).trim());
  await expect.poll(() => statuses.length).toBeGreaterThan(5_000);
  expect(waits() - before).toBeLessThan(100);
  await expect.poll(() => lines.filter((line) => line === "JOIN #a")).toHaveLength(2);
});

test("many rooms are joined at the server's pace, between messages; the operator reads the first ones", async () => {
  const names = Array.from({ length: 6 }, (_, index) => `#room-${index}`);
  const { connection, say, lines, statuses } = await open({
    rooms: { names, join: (room) => `JOIN ${room}` },
    pace: { burst: 2, everyMs: 300 },
  });
  await connection.start();
  const startedAt = performance.now();
  await connection.admit?.(part, to("#hall"), never);
  await connection.send(part, to("#hall"), never);
  const joins = () => lines.filter((line) => line.startsWith("JOIN"));
  expect(joins().length).toBeLessThan(names.length);
  await expect.poll(joins).toEqual(names.map((name) => `JOIN ${name}`));
  // Seven lines, of which two need not wait.
  expect(performance.now() - startedAt).toBeGreaterThan(4 * 300);
  for (const name of names) say(`OUT ${name}`);
  const told = ["#room-0", "#room-1", "#room-2"].map((name) => `The bot is not in ${name}: It is closed.`).join(" ");
  await expect.poll(() => statuses.at(-1)?.detail).toBe(`It is Sunday. ${told} It is not in 3 more rooms.`);
});

test("an account is connected once it is admitted, before the server answers a ping", async () => {
  const { connection, statuses } = await open({ ping: () => "NOTHING" });
  await connection.start();
  expect(statuses.at(-1)).toMatchObject({ state: "connected" });
});

test.each([
  ["bot: /status", "/status", true],
  ["Bot, hi", "hi", true],
  ["@bot hi", "hi", true],
  ["bot hi", "bot hi", true],
  ["thanks, bot!", "thanks, bot!", true],
  ["robot: hi", "robot: hi", false],
  ["bot]: hi", "bot]: hi", false],
  ["bot-2, hi", "bot-2, hi", false],
  ["", "", false],
])("recognizing a text that addresses the bot: %j", (written, text, mention) => {
  expect(readMention(written, ["bot", ""], { letters: "[]\\-" })).toEqual({ text, mention });
});

test("a protocol that throws at the start leaves no socket open", async () => {
  const { connection, statuses, sockets } = await open({
    begin() {
      throw new Error("The protocol has no nick");
    },
  });
  await connection.start();
  expect(statuses.at(-1)).toMatchObject({
    state: "waiting",
    detail: expect.stringContaining("The protocol has no nick."),
  });
  // Time for a connection that was left to arrive.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(sockets.size).toBe(0);
});

test("messages keep the protocol's pace; without one they are not limited", async () => {
  const { connection } = await open({ pace: { burst: 1, everyMs: 60_000 } });
  const stop = new AbortController();
  expect(connection.admit?.(part, to("#room"), never)).toBeUndefined();
  const waiting = connection.admit?.(part, to("#room"), stop.signal);
  expect(waiting).toBeInstanceOf(Promise);
  stop.abort();
  await waiting;
  expect((await open()).connection.admit).toBeUndefined();
});

test("the lead of a reply is never sent as a message of its own", () => {
  const bodies = (text: string, limit = 20) =>
    textParts({ text }, { limit, unit: "bytes", eachLine: true, lead: "ada: " }).map(({ body }) => body);
  expect(bodies("https://example.com/a/long/path")).toEqual(["ada: https://example", ".com/a/long/path"]);
  expect(bodies("hello you there, again\nbye")).toEqual(["ada: hello you", "there, again", "bye"]);
  expect(bodies("ä".repeat(12))).toEqual([`ada: ${"ä".repeat(7)}`, "ä".repeat(5)]);
  // There is no room for more than the lead.
  expect(bodies("hello", 8)).toEqual(["ada:", "hello"]);
});
