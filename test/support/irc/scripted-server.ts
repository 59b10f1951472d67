/** An IRC server that a test scripts: it knows SASL, account-tag and WHOX, and fails on demand. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

export interface ScriptedServer {
  readonly port: number;
  /** Every line that clients sent. */
  readonly lines: readonly string[];
  /** Texts of the bot, with their target. */
  readonly messages: readonly { readonly target: string; readonly text: string }[];
  /** Its notices. */
  readonly notices: readonly { readonly target: string; readonly text: string }[];
  /** A line to the bot, as from the server. */
  send(line: string): void;
  /** Called for each line before it is handled; `true`: it is handled. */
  script: (line: string, socket: Socket) => boolean;
  /** Ends every connection. */
  cut(): void;
  close(): Promise<void>;
}

export async function startScripted({
  caps = "sasl account-tag message-tags server-time",
  isupport = "CASEMAPPING=rfc1459",
  password = "correct horse",
  nick: user = "bot",
  port = 0,
}: {
  readonly caps?: string;
  readonly isupport?: string;
  readonly password?: string;
  readonly nick?: string;
  readonly port?: number;
} = {}): Promise<ScriptedServer> {
  const sockets = new Set<Socket>();
  const lines: string[] = [];
  const messages: { target: string; text: string }[] = [];
  const notices: { target: string; text: string }[] = [];
  let bot: Socket | undefined;

  function serve(socket: Socket): void {
    let nick = "";
    let negotiating = false;
    let welcomed = false;
    const write = (line: string) => void socket.write(`${line}\r\n`);
    const welcome = () => {
      if (welcomed || negotiating || nick === "") return;
      welcomed = true;
      bot = socket;
      write(`:irc.test 001 ${nick} :Welcome`);
      write(`:irc.test 005 ${nick} ${isupport} :are supported`);
      write(`:irc.test 422 ${nick} :No MOTD`);
    };
    const handle = (line: string) => {
      const [command = "", first = "", ...rest] = line.split(" ");
      if (command === "CAP" && first === "LS" && caps !== "") {
        negotiating = true;
        write(`:irc.test CAP * LS :${caps}`);
      } else if (command === "CAP" && first === "REQ") write(`:irc.test CAP * ACK ${rest.join(" ")}`);
      else if (command === "CAP" && first === "END") negotiating = false;
      else if (command === "AUTHENTICATE" && first === "PLAIN") write("AUTHENTICATE +");
      else if (command === "AUTHENTICATE") {
        const right = Buffer.from(first, "base64").toString() === `\0${user}\0${password}`;
        write(
          right ? `:irc.test 903 * :SASL authentication successful` : `:irc.test 904 * :SASL authentication failed`,
        );
      } else if (command === "NICK") nick = first;
      else if (command === "JOIN") write(`:${nick}!bot@127.0.0.1 JOIN ${first}`);
      else if (command === "PING") write(`:irc.test PONG irc.test ${first}`);
      else if (command === "PRIVMSG") {
        // As in RFC 2812: a list of recipients, then the text, of which only the last parameter may have spaces.
        const [, text = rest[0] ?? ""] = /^PRIVMSG \S+ :(.*)$/s.exec(line) ?? [];
        for (const target of first.split(",")) messages.push({ target, text });
      } else if (command === "NOTICE") notices.push({ target: first, text: line.slice(line.indexOf(" :") + 2) });
      if (["CAP", "NICK", "USER"].includes(command)) welcome();
    };
    let buffer = "";
    sockets.add(socket);
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      const found = (buffer + chunk).split("\r\n");
      buffer = found.pop() ?? "";
      for (const line of found) {
        lines.push(line);
        if (!server.script(line, socket)) handle(line);
      }
    });
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  }

  const listener = createServer(serve).listen(port, "127.0.0.1");
  await once(listener, "listening");
  const server: ScriptedServer = {
    port: (listener.address() as AddressInfo).port,
    lines,
    messages,
    notices,
    script: () => false,
    send: (line) => void bot?.write(`${line}\r\n`),
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      server.cut();
      if (!listener.listening) return;
      listener.close();
      await once(listener, "close");
    },
  };
  return server;
}
