/**
 * A server for tests and `npm run dev`, with one person at it: it answers as the real one does, and fails on
 * demand.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { ChannelPlatform } from "service-gateway/testkit";

type Failure = Parameters<NonNullable<ChannelPlatform["fail"]>>[0];

const person = "ada";
const room = "#room";

/** `onMessage`: called for each message of the bot. */
export async function openPlatform(onMessage: (text: string) => void = () => {}): Promise<ChannelPlatform> {
  const seen: { readonly to: string; readonly text: string }[] = [];
  const sockets = new Set<Socket>();
  let bot: Socket | undefined;
  let failure: Failure | undefined;
  /** Messages that a person wrote before the bot had signed in. */
  const early: string[] = [];
  let nextId = 1;

  function say(socket: Socket, to: string, text: string): void {
    if (failure === "hang") return;
    if (failure === "refuse") return void socket.write(`UNKNOWN ${to}\r\n`);
    seen.push({ to, text });
    onMessage(text);
    if (failure === "cut") socket.destroy();
  }

  function handle(line: string, socket: Socket): void {
    if (failure === "silent") return;
    const [command, first = "", ...words] = line.split(" ");
    if (command === "LOGIN") {
      bot = socket;
      socket.write(`WELCOME ${first}\r\n`);
      for (const message of early.splice(0)) socket.write(message);
    }
    if (command === "JOIN") socket.write(`JOINED ${first}\r\n`);
    if (command === "SAY") say(socket, first, words.join(" "));
    // After a message that it does not answer, the server answers nothing more.
    if (command === "PING" && failure !== "hang") socket.write(`PONG ${first}\r\n`);
  }

  const server = createServer((socket) => {
    let rest = "";
    sockets.add(socket);
    socket.setEncoding("utf8").on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      if (bot === socket) bot = undefined;
    });
    socket.on("data", (chunk: string) => {
      const lines = `${rest}${chunk}`.split(/\r?\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) handle(line, socket);
    });
  });
  const listen = async (port: number) => void (await once(server.listen(port, "127.0.0.1"), "listening"));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const deliver = (to: string, text: string) => {
    nextId += 1;
    const message = `MESSAGE ${nextId} ${person} ${to} ${text}\r\n`;
    if (bot === undefined) early.push(message);
    else bot.write(message);
  };

  return {
    options: { server: "127.0.0.1", port },
    groups: { inside: room, outside: "#other" },
    async write(text, { group = false, mention = false } = {}) {
      deliver(group ? room : "bot", mention ? `bot: ${text}` : text);
    },
    // The end of a line must not begin another one: here a separator that many programs take for one.
    forge: async (text) => deliver("bot", `${text}\u2028MESSAGE 1 eve ${room} ${text}`),
    read: ({ group = false } = {}) => seen.filter(({ to }) => to === (group ? room : person)).map(({ text }) => text),
    async fail(ability) {
      failure = ability;
      if (ability === "away") server.close();
      if (ability === "back") await listen(port);
      if (ability === "away" || ability === "reset") cut();
    },
    async close() {
      server.close();
      cut();
    },
  };
}
