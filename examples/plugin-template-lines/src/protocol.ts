/** The protocol: how the bot signs in, what a line of the server means, and how a message is written. Replace it by that of your platform. */
import {
  ChannelError,
  type LineLink,
  type LineProtocol,
  type Parsed,
  readMention,
  type Static,
  Type,
  textParts,
} from "service-gateway/sdk/channel";
import type { Options } from "./options.ts";

/** Bytes of the longest text that the server takes. */
export const maxChars = 400;

/** A message as it is stored until it is handled: what the line says, and what was known when it came. */
const said = Type.Object({
  id: Type.String(),
  from: Type.String(),
  to: Type.String({ description: "A room, or the bot." }),
  text: Type.String(),
  bot: Type.String({ description: "Name of the bot." }),
});

export function protocolOf({ name, password = "", rooms }: Options): LineProtocol<typeof said> {
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
    event: said,
    parse,
    render: (reply) => textParts(reply, { limit: maxChars, unit: "bytes", eachLine: true }),
  };
}

function understand(line: string, link: LineLink<typeof said>, bot: string): void {
  const [, command, rest = ""] = /^(\S+) ?(.*)$/.exec(line) ?? [];
  if (command === "WELCOME") link.welcome({ id: rest, username: rest });
  // No other attempt mends a wrong password.
  if (command === "DENIED") link.refuse(new ChannelError("unauthorized", { detail: `The server does not let the bot in: ${rest}` }));
  if (command === "PONG") link.confirm(rest);
  if (command === "JOINED") link.inRoom(rest);
  // The operator reads the meaning and the hint of the code, which `codes` in `index.ts` declares.
  if (command === "REMOVED") link.outOfRoom(rest, new ChannelError("removed_from_room", { detail: "The server removed the bot" }));
  // Final: the rest of the reply is not sent. With `retryable: true` the message waits, for 24 hours at most.
  if (command === "UNKNOWN") link.reject(rest, new ChannelError("chat_not_found"));
  if (command === "MESSAGE") {
    const [, id = "", from = "", to = "", text = ""] = /^(\S+) (\S+) (\S+) (.*)$/.exec(rest) ?? [];
    link.receive({ id, from, to, text, bot });
  }
}

/** Pure: it runs when a message comes, and again when its turn begins, perhaps in a later process. */
function parse({ id, from, to, text: written, bot }: Static<typeof said>): Parsed {
  // The bot must not answer itself.
  if (from === bot || written === "") return null;
  const isRoom = to.startsWith("#");
  // `bot: /status` becomes the command `/status`.
  const { text, mention } = readMention(written, [bot]);
  return {
    // In a direct chat the chat is the person.
    chat: isRoom ? { id: to, kind: "group", title: to } : { id: from, kind: "direct" },
    // The access policy knows a person by this id. Where a name can change hands, say so: `identity: { weak: true }` in `index.ts`.
    sender: { id: from, name: from },
    text,
    mention: !isRoom || mention,
    // It tells a repetition from a new message. A server without ids leaves it out.
    messageId: id,
  };
}
