/** Signing in: capabilities, SASL PLAIN, and a nick that is free. */
import { ChannelError, type LineLink } from "service-gateway/sdk/channel";
import type { Handlers, Line } from "./line.ts";
import type { said } from "./message.ts";
import type { Options } from "./options.ts";

/** What is known on one connection: what the server grants and can do, the nick that the bot has, and whether it was let in. */
export type Here = { readonly link: LineLink<typeof said>; readonly caps: Set<string>; me: string; signedIn: boolean };

/** Reports the nick, which may change at any time. */
export const report = ({ link, me }: Here) => link.welcome({ id: me, username: me });

const wanted = ["message-tags", "server-time", "account-tag", "sasl"];

export function signInHandlers(here: Here, { nick, saslUser = nick, saslPassword }: Options): Handlers {
  const { link, caps } = here;
  const offered = new Set<string>();
  const needsSasl = saslPassword !== undefined;
  const refuse = (detail: string) => link.refuse(new ChannelError("unauthorized", { detail, hint: "Check server, nick and passwords." }));
  const noSasl = () => refuse("The server offers no SASL, and saslPassword is set");
  const saslFailed = ({ params }: Line) => refuse(`SASL failed: ${params.at(-1)}`);
  const shutOut = ({ params }: Line) => refuse(`The server does not let the bot in: ${params.at(-1)}`);
  const ready = () => report(here);
  const nextNick = () => {
    // After the welcome the bot has a nick, and asked for the one that it wants.
    if (here.signedIn) return;
    here.me = `${here.me.slice(0, 28)}_`;
    link.write(`NICK ${here.me}`);
  };
  return {
    CAP({ params: [, verb, more = "", last = more] }) {
      const names = last.split(" ").map((name) => name.split("=", 1)[0] ?? "");
      if (verb === "LS") {
        for (const name of names) offered.add(name);
        if (more === "*") return;
        const asked = wanted.filter((name) => offered.has(name) && (name !== "sasl" || needsSasl));
        if (needsSasl && !asked.includes("sasl")) noSasl();
        else link.write(asked.length === 0 ? "CAP END" : `CAP REQ :${asked.join(" ")}`);
      } else if (verb === "ACK" || verb === "NAK") {
        if (verb === "ACK") for (const name of names) caps.add(name);
        link.write(caps.has("sasl") ? "AUTHENTICATE PLAIN" : "CAP END");
      }
    },
    AUTHENTICATE() {
      const answer = Buffer.from(`\0${saslUser}\0${saslPassword}`).toString("base64");
      // A line of 400 says that more follows.
      for (let at = 0; at <= answer.length; at += 400) link.write(`AUTHENTICATE ${answer.slice(at, at + 400) || "+"}`);
    },
    903: () => link.write("CAP END"),
    ...{ 902: saslFailed, 904: saslFailed, 905: saslFailed, 908: saslFailed },
    ...{ 464: shutOut, 465: shutOut, 432: shutOut, 433: nextNick, 436: nextNick, 437: nextNick },
    "001"({ params: [me = here.me] }) {
      here.signedIn = true;
      here.me = me;
      // A server that does not know CAP would let the bot in without its account.
      if (needsSasl && !caps.has("sasl")) noSasl();
    },
    "005": ({ params }) => void (params.includes("WHOX") && caps.add("WHOX")),
    ...{ 376: ready, 422: ready },
  };
}
