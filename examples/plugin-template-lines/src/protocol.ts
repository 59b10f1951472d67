/** The protocol: how the bot signs in, what a line of the server means, and how a message is written. Replace it by that of your platform. */
import type { Json } from "service-gateway/sdk";
import { ChannelError, type LineLink, type LineProtocol, type Parsed, textParts } from "service-gateway/sdk/channel";
import type { Options } from "./options.ts";

/** Bytes of the longest text that the server takes. */
export const maxChars = 400;

/** A message as it is stored until it is handled: what the line says, and what was known when it came. */
interface Said {
  readonly id: string;
  readonly from: string;
  /** A room, or the bot. */
  readonly to: string;
  readonly text: string;
  /** Name of the bot. */
  readonly bot: string;
}

export function protocolOf({ name, password = "", rooms }: Options): LineProtocol {
  return {
    begin(link) {
      link.write(`LOGIN ${name} ${password}`);
      return {
        onLine: (line) => understand(line, link, name),
        // Also every minute: a room that the bot was removed from is joined again.
        tend() {
          for (const room of rooms) link.write(`JOIN ${room}`);
        },
      };
    },
    // The server handles lines in their order, so its answer says that it has handled the message before.
    ping: (token) => `PING ${token}`,
    goodbye: "QUIT",
    message: (text, to) => `SAY ${to} ${text}`,
    parse,
    render: (reply) => textParts(reply, { limit: maxChars, unit: "bytes", eachLine: true }),
  };
}

function understand(line: string, link: LineLink, bot: string): void {
  const [, command, rest = ""] = /^(\S+) ?(.*)$/.exec(line) ?? [];
  if (command === "WELCOME") link.welcome({ id: rest, username: rest });
  // No other attempt mends a wrong password.
  if (command === "DENIED") link.refuse(new ChannelError("unauthorized", { detail: `The server does not let the bot in: ${rest}` }));
  if (command === "PONG") link.confirm(rest);
  // Final: the rest of the reply is not sent. Where `tend` joins the room again, add `retryable: true`, and the message waits.
  if (command === "UNKNOWN") link.reject(rest, new ChannelError("chat_not_found"));
  if (command === "MESSAGE") {
    const [, id = "", from = "", to = "", text = ""] = /^(\S+) (\S+) (\S+) (.*)$/.exec(rest) ?? [];
    void link.receive({ id, from, to, text, bot });
  }
}

/** Pure and total: anything may come in, and nothing makes it throw. */
function parse(raw: Json): Parsed {
  const { id, from, to, text, bot } = (raw ?? {}) as Partial<Record<keyof Said, unknown>>;
  if (![id, from, to, text, bot].every((value) => typeof value === "string" && value !== "")) return undefined;
  const said = { id, from, to, text, bot } as Said;
  // The bot must not answer itself.
  if (said.from === said.bot) return null;
  const isRoom = said.to.startsWith("#");
  // So that `bot: /status` is a command.
  const addressed = /^[:,] /.test(said.text.slice(said.bot.length)) && said.text.startsWith(said.bot);
  return {
    // In a direct chat the chat is the person.
    chat: isRoom ? { id: said.to, kind: "group", title: said.to } : { id: said.from, kind: "direct" },
    // The access policy knows a person by this id. Where a name can change hands, say so: `identity: { weak: true }` in `index.ts`.
    sender: { id: said.from, name: said.from },
    text: addressed ? said.text.slice(said.bot.length + 2) : said.text,
    mention: !isRoom || said.text.split(/[^\w-]+/).includes(said.bot),
    // It tells a repetition from a new message. A server without ids leaves it out.
    messageId: said.id,
  };
}
