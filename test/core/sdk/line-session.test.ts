/** A session of lines, against a server of this test: what is confirmed, what is refused, and what is cut off. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { ChannelError } from "../../../core/contract/index.ts";
import type { ChannelStatus } from "../../../core/sdk/contract.ts";
import { connectLines } from "../../../core/sdk/lines/connection.ts";
import { createSession } from "../../../core/sdk/lines/session.ts";

type Answer = (line: string, socket: Socket) => string | undefined;

const friendly: Answer = (line) =>
  line === "HELLO" ? "WELCOME" : line.startsWith("PING ") ? line.replace("PING", "PONG") : undefined;

/** A server, and an account with a session at it. `answer` may be replaced while they talk. */
async function open() {
  const server = { answer: friendly, lines: [] as string[], connections: 0 };
  const listener = createServer((socket) => {
    server.connections += 1;
    let rest = "";
    socket.setEncoding("utf8").on("error", () => {});
    socket.on("data", (chunk: string) => {
      const lines = `${rest}${chunk}`.split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        server.lines.push(line);
        const answer = server.answer(line, socket);
        if (answer !== undefined) socket.write(`${answer}\r\n`);
      }
    });
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const closing = new AbortController();
  const statuses: ChannelStatus[] = [];
  let ids = 0;
  let succeeded = 0;
  const account = {
    signal: closing.signal,
    now: () => Date.now(),
    newId: () => String(ids++),
    status: (status: ChannelStatus) => void statuses.push(status),
    calling: () => () => {
      succeeded += 1;
    },
  };
  const session = createSession(account, {
    connect: (onLine) => connectLines({ host: "127.0.0.1", port, tls: false }, onLine),
    ping: (token) => `PING ${token}`,
    goodbye: "BYE",
    begin(link) {
      link.write("HELLO");
      return {
        onLine(line) {
          const [word, rest = ""] = line.split(" ");
          if (word === "WELCOME") link.welcome({ id: "1", username: "bot" });
          if (word === "NAMED") link.welcome({ id: "1", username: rest });
          if (word === "BANNED") link.welcome(undefined, `The bot may not enter ${rest}.`);
          if (word === "PONG") link.confirm(rest);
          if (word === "GO")
            link.refuse(new ChannelError("unauthorized", { detail: "The server does not know the bot" }));
          if (word === "ODD") throw new Error("The protocol does not know ODD");
          if (word === "NO") link.reject(rest, new ChannelError("chat_not_found"));
        },
        tend: () => link.write("JOIN"),
      };
    },
  });
  onTestFinished(async () => {
    closing.abort();
    await session.close();
    listener.close();
    await once(listener, "close");
  });
  return { server, session, statuses, succeeded: () => succeeded };
}

const sending = { about: "room", signal: new AbortController().signal };

test("a send resolves as a successful call when the server answers the ping after it", async () => {
  const { server, session, statuses, succeeded } = await open();
  await session.start();
  expect(statuses.at(-1)).toMatchObject({ state: "connected", identity: { id: "1", username: "bot" } });
  await expect.poll(() => server.lines.slice(0, 2)).toEqual(["HELLO", "JOIN"]);
  // The ping of the first `tend`.
  await expect.poll(succeeded).toBe(1);
  await session.send("SAY room hi", sending);
  expect(server.lines.slice(-2)).toEqual(["SAY room hi", expect.stringMatching(/^PING \d+$/)]);
  expect(succeeded()).toBe(2);
});

test("a refusal by the server rejects only the send that it concerns", async () => {
  const { server, session } = await open();
  await session.start();
  server.answer = (line, socket) => (line === "SAY room hi" ? "NO room" : friendly(line, socket));
  const other = session.send("SAY hall hi", { ...sending, about: "hall" });
  await expect(session.send("SAY room hi", sending)).rejects.toMatchObject({ reason: "chat_not_found" });
  await expect(other).resolves.toBeUndefined();
});

test("a send cut off by a disconnect or a stop reports an unknown fate; without a connection, not sent", async () => {
  const { server, session } = await open();
  await expect(session.send("SAY room hi", sending)).rejects.toMatchObject({
    reason: "network",
    fate: "not-sent",
    retryable: true,
  });
  await session.start();
  server.answer = () => undefined;
  const stop = new AbortController();
  const stopped = session.send("SAY room hi", { ...sending, signal: stop.signal });
  stop.abort();
  await expect(stopped).rejects.toMatchObject({ reason: "network", fate: "unknown", retryable: true });
  server.answer = (_, socket) => void socket.destroy();
  await expect(session.send("SAY room hi", sending)).rejects.toMatchObject({
    reason: "network",
    fate: "unknown",
    retryable: true,
  });
  await expect.poll(() => session.send("SAY room hi", sending).catch(({ fate }) => fate)).toBe("not-sent");
});

test("the session reconnects after losing the connection", async () => {
  const { server, session } = await open();
  await session.start();
  server.answer = (_, socket) => void socket.destroy();
  await session.send("SAY room hi", sending).catch(() => {});
  server.answer = friendly;
  await expect
    .poll(
      () =>
        session.send("SAY room again", sending).then(
          () => server.connections,
          () => 0,
        ),
      { timeout: 10_000 },
    )
    .toBe(2);
});

test("a line that makes the protocol throw closes the connection without crashing the process", async () => {
  const { server, session, statuses } = await open();
  await session.start();
  server.answer = (line, socket) => (line === "SAY room hi" ? "ODD" : friendly(line, socket));
  await expect(session.send("SAY room hi", sending)).rejects.toMatchObject({ reason: "network", fate: "unknown" });
  await expect
    .poll(() => statuses.some(({ detail }) => detail?.startsWith("The protocol does not know ODD.")))
    .toBe(true);
});

test("the session reports each change after the first welcome once, at once, with the known identity", async () => {
  const { server, session, statuses } = await open();
  await session.start();
  const identity = { id: "1", username: "bot" };
  expect(statuses.filter(({ state }) => state === "connected")).toEqual([
    expect.objectContaining({ state: "connected", identity }),
  ]);
  const answers = ["BANNED #hall", "NAMED bot_", "BANNED #room", "NAMED bot_"];
  server.answer = (line, socket) => (line.startsWith("SAY") ? answers.shift() : friendly(line, socket));
  for (const _ of [...answers]) await session.send("SAY room hi", sending);
  const changes = statuses.filter(({ state }) => state === "connected").slice(1);
  expect(changes.map(({ identity, detail }) => [identity?.username, detail])).toEqual([
    ["bot", "The bot may not enter #hall."],
    ["bot_", undefined],
    ["bot_", "The bot may not enter #room."],
    ["bot_", undefined],
  ]);
  expect(statuses.every(({ state }) => state === "connecting" || state === "connected")).toBe(true);
});

test("a bot whose sign-in is rejected says goodbye and does not retry", async () => {
  const { server, session } = await open();
  server.answer = (line) => (line === "HELLO" ? "GO" : undefined);
  await expect(session.start()).rejects.toMatchObject({ reason: "unauthorized" });
  await expect.poll(() => server.lines).toEqual(["HELLO", "BYE"]);
});

test("a disconnect during sign-in is treated as a refusal, and the hint includes the server's notice", async () => {
  const { server, session, statuses } = await open();
  server.answer = (line, socket) => {
    if (line === "HELLO") setTimeout(() => socket.destroy(), 20);
    return "NOTICE Bad password?";
  };
  await session.start();
  expect(statuses.at(-1)).toMatchObject({
    state: "waiting",
    code: "sign_in_refused",
    hint: expect.stringContaining("password"),
  });
  const send = session.send("SAY room hi", sending);
  await expect(send).rejects.toMatchObject({
    reason: "network",
    fate: "not-sent",
    hint: expect.stringContaining("password"),
  });
});
