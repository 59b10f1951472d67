/** Signing in: capabilities, SASL PLAIN, and a nick that is free. */
import { ChannelError, type LineConnection } from "service-gateway/sdk/channel";
import type { Line } from "./line.ts";

export interface SignIn {
  readonly link: LineConnection;
  /** Resolved once the server lets the bot in. */
  readonly welcome: { resolve(): void; reject(error: unknown): void };
  readonly offered: Set<string>;
  readonly caps: Set<string>;
  /** The nick that the bot has. */
  me: string;
  /** Whether the server answers WHO with accounts. */
  whox: boolean;
  signedIn: boolean;
}

interface Credentials {
  readonly nick: string;
  readonly saslUser?: string;
  readonly saslPassword?: string;
}

const wanted = ["message-tags", "server-time", "account-tag", "sasl"];
const refused = (detail: string) => new ChannelError("unauthorized", { detail, hint: "Check server, nick and passwords of the account." });

export function signInHandlers({ nick, saslUser = nick, saslPassword }: Credentials) {
  const needsSasl = saslPassword !== undefined;
  const noSasl = ({ params }: Line, { welcome }: SignIn) => welcome.reject(refused(`SASL failed: ${params.at(-1)}`));
  const shutOut = ({ params }: Line, { welcome }: SignIn) =>
    welcome.reject(refused(`The server does not let the bot in: ${params.at(-1)}`));
  const ready = (_: Line, { welcome }: SignIn) => welcome.resolve();
  const nextNick = (_: Line, here: SignIn) => {
    // After the welcome the bot has a nick, and asked for the one that it wants.
    if (here.signedIn) return;
    here.me = `${here.me.slice(0, 28)}_`;
    here.link.write(`NICK ${here.me}`);
  };
  return {
    CAP({ params: [, verb, more, last = more] }: Line, { link, welcome, offered, caps }: SignIn) {
      const names = (last ?? "").split(" ").map((name) => name.split("=", 1)[0] ?? "");
      if (verb === "LS") {
        for (const name of names) offered.add(name);
        if (more === "*") return;
        const asked = wanted.filter((name) => offered.has(name) && (name !== "sasl" || needsSasl));
        if (needsSasl && !asked.includes("sasl")) welcome.reject(refused("The server offers no SASL, and saslPassword is set"));
        else link.write(asked.length === 0 ? "CAP END" : `CAP REQ :${asked.join(" ")}`);
      } else if (verb === "ACK" || verb === "NAK") {
        if (verb === "ACK") for (const name of names) caps.add(name);
        link.write(caps.has("sasl") ? "AUTHENTICATE PLAIN" : "CAP END");
      }
    },
    AUTHENTICATE(_: Line, { link }: SignIn) {
      const answer = Buffer.from(`\0${saslUser}\0${saslPassword}`).toString("base64");
      // A line of 400 says that more follows.
      for (let at = 0; at <= answer.length; at += 400) link.write(`AUTHENTICATE ${answer.slice(at, at + 400) || "+"}`);
    },
    903: (_: Line, { link }: SignIn) => link.write("CAP END"),
    ...{ 902: noSasl, 904: noSasl, 905: noSasl, 908: noSasl, 464: shutOut, 465: shutOut },
    ...{ 432: shutOut, 433: nextNick, 436: nextNick, 437: nextNick },
    "001"({ params: [me] }: Line, here: SignIn) {
      here.signedIn = true;
      here.me = me ?? here.me;
      // A server that does not know CAP would let the bot in without its account.
      if (needsSasl && !here.caps.has("sasl")) here.welcome.reject(refused("The server offers no SASL, and saslPassword is set"));
    },
    "005"({ params }: Line, here: SignIn) {
      here.whox ||= params.includes("WHOX");
    },
    ...{ 376: ready, 422: ready },
  };
}
