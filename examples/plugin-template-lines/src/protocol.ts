/**
 * The protocol: how the bot signs in, what a line of the server means, and how a message is written. Replace it
 * with that of your platform.
 */
import type { LineProtocol } from "service-gateway/sdk/channel";
import type { Options } from "./options.ts";

/** A line of the server: a word, and the rest. */
interface Line {
  readonly command: string;
  readonly rest: string;
}

export function protocolOf({ name, password = "", rooms }: Options): LineProtocol<Line> {
  return {
    read(text) {
      const [, command = "", rest = ""] = /^(\S+) ?(.*)$/.exec(text) ?? [];
      return { command, rest };
    },
    begin(link) {
      link.write(`LOGIN ${name} ${password}`);
      return {
        WELCOME: ({ rest }) => link.welcome({ id: rest, username: rest }),
        // Final, because no other attempt mends a wrong password. With `retryable: true` the bot tries again.
        DENIED: ({ rest }) => link.refuse("unauthorized", { detail: `The server does not let the bot in: ${rest}` }),
        // The operator reads the meaning and the hint of the code, which `codes` in `index.ts` declares.
        LOCKED: () => link.refuse("name_locked", { retryable: true }),
        PONG: ({ rest }) => link.confirm(rest),
        JOINED: ({ rest }) => link.inRoom(rest),
        REMOVED: ({ rest }) => link.outOfRoom(rest, "The server removed it"),
        // Final: the rest of the reply is not sent. With `retryable: true` the message waits, for 24 hours at most.
        UNKNOWN: ({ rest }) => link.reject(rest, "chat_not_found"),
        MESSAGE({ rest }) {
          const [, id = "", from = "", to = "", text = ""] = /^(\S+) (\S+) (\S+) (.*)$/.exec(rest) ?? [];
          // The id tells a repetition from a new message; a server without ids leaves it out. `bot: /status`
          // becomes the command `/status`.
          link.receive({ id, from, text, room: to.startsWith("#") ? to : undefined, names: [name] });
        },
      };
    },
    // Joined once the bot has signed in, and again when it was removed.
    rooms: { names: rooms, join: (room) => `JOIN ${room}` },
    // The server handles lines in their order, so its answer says that it has handled the message before.
    ping: (token) => `PING ${token}`,
    goodbye: "QUIT",
    message: (text, to) => `SAY ${to} ${text}`,
  };
}
