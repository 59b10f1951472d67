/** The protocol: how the bot signs in, what a line of the server means, and how a message is written. Replace it by that of your platform. */
import type { LineLink, LineProtocol } from "service-gateway/sdk/channel";
import type { Options } from "./options.ts";

export function protocolOf({ name, password = "", rooms }: Options): LineProtocol {
  return {
    begin(link) {
      link.write(`LOGIN ${name} ${password}`);
      return { onLine: (line) => understand(line, link, name) };
    },
    // Joined once the bot was let in, and again when it was removed.
    rooms: { names: rooms, join: (room) => `JOIN ${room}` },
    // The server handles lines in their order, so its answer says that it has handled the message before.
    ping: (token) => `PING ${token}`,
    goodbye: "QUIT",
    message: (text, to) => `SAY ${to} ${text}`,
  };
}

function understand(line: string, link: LineLink, bot: string): void {
  const [, command, rest = ""] = /^(\S+) ?(.*)$/.exec(line) ?? [];
  if (command === "WELCOME") link.welcome({ id: rest, username: rest });
  // Final, because no other attempt mends a wrong password. With `retryable: true` the bot tries again.
  if (command === "DENIED") link.refuse("unauthorized", { detail: `The server does not let the bot in: ${rest}` });
  // The operator reads the meaning and the hint of the code, which `codes` in `index.ts` declares.
  if (command === "LOCKED") link.refuse("name_locked", { retryable: true });
  if (command === "PONG") link.confirm(rest);
  if (command === "JOINED") link.inRoom(rest);
  if (command === "REMOVED") link.outOfRoom(rest, "The server removed it");
  // Final: the rest of the reply is not sent. With `retryable: true` the message waits, for 24 hours at most.
  if (command === "UNKNOWN") link.reject(rest, "chat_not_found");
  if (command === "MESSAGE") {
    const [, id = "", from = "", to = "", text = ""] = /^(\S+) (\S+) (\S+) (.*)$/.exec(rest) ?? [];
    // The id tells a repetition from a new message; a server without ids leaves it out. `bot: /status` becomes the command `/status`.
    link.receive({ id, from, text, room: to.startsWith("#") ? to : undefined, names: [bot] });
  }
}
