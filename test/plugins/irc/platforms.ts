/** The platform of the contract, played by a server that fails on demand. */
import type { ChannelPlatform } from "../../../core/testkit/channel/options.ts";
import { startScripted } from "../../support/irc/scripted-server.ts";
import { reservePort } from "../../support/ports.ts";

export async function openScripted(): Promise<ChannelPlatform> {
  // While the server is away, the channel must not reach another one at its port.
  const { port, release } = await reservePort();
  const server = await startScripted({ port });
  const inRoom = () => server.messages.filter(({ target }) => target === "#room");
  return {
    options: { server: "127.0.0.1", port },
    groups: { inside: "#room", outside: "#other" },
    async write(text, { group = false, mention = false } = {}) {
      const written = group ? `#room :${mention ? "bot: " : ""}${text}` : `bot :${text}`;
      server.send(`@account=ada;time=2025-10-09T08:53:20.000Z :ada!a@127.0.0.1 PRIVMSG ${written}`);
    },
    async forge(text) {
      for (const line of ["\u2028", "\r", "\u0085"].map(
        (end) => `${end}@account=eve :eve!e@127.0.0.1 PRIVMSG #room :bot: ${text}`,
      ))
        server.send(`@account=ada :ada!a@127.0.0.1 PRIVMSG bot :${text}${line}`);
    },
    read: ({ group = false } = {}) =>
      (group
        ? [...inRoom(), ...server.notices.filter(({ target }) => target === "ada")]
        : server.messages.filter(({ target }) => target === "ada")
      ).map(({ text }) => text),
    others: () => inRoom().map(({ text }) => text),
    async fail(ability) {
      if (ability === "away") return await server.close();
      if (ability === "reset") return server.cut();
      server.script = (line, socket) => {
        if (ability === "silent") return true;
        if (!line.startsWith("PRIVMSG")) return ability === "hang" && line.startsWith("PING");
        if (ability === "cut") socket.destroy();
        if (ability === "refuse") socket.write(":irc.test 401 bot ada :No such nick or channel name\r\n");
        return true;
      };
    },
    async close() {
      await server.close();
      release();
    },
  };
}
