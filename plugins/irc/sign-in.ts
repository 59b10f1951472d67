/** Signing in: capabilities, SASL PLAIN, and a nick that is free. */
import type { LineHandlers, LineLink } from "service-gateway/sdk/channel";
import type { Line } from "./line.ts";
import type { Options } from "./options.ts";

/**
 * What is known on one connection: what the server grants and can do, and whether an earlier one has signed in with
 * SASL.
 */
export type Here = { readonly link: LineLink; readonly caps: Set<string>; readonly hadSasl: boolean; signedIn(): void };

const wanted = ["message-tags", "server-time", "account-tag", "sasl"];

/** How many nicks the bot asks for instead of its own that a server may find unfit, such as too long. */
const mostUnfit = 3;

export function signInHandlers(here: Here, { nick, saslUser = nick, saslPassword }: Options): LineHandlers<Line> {
  const { link, caps } = here;
  const offered = new Set<string>();
  const needsSasl = saslPassword !== undefined;
  let isIn = false;
  const refuse = (detail: string) => link.refuse("unauthorized", { detail, hint: "Check server, nick and passwords." });
  const noSasl = () => {
    const detail = "The server offers no SASL, and saslPassword is set";
    // After a restart or a split, a server is often back before the network's services are.
    if (here.hadSasl)
      link.refuse("sign_in_refused", {
        detail,
        hint: "The network's services may be away for a while.",
        retryable: true,
      });
    else refuse(detail);
  };
  const saslFailed = ({ params }: Line) => refuse(`SASL failed: ${params.at(-1)}`);
  const shutOut = ({ params }: Line) => refuse(`The server does not let the bot in: ${params.at(-1)}`);
  let unfit = 0;
  const badNick = ({ params }: Line) => {
    if (isIn) return;
    if (link.isBot(nick))
      return link.refuse("name_refused", { detail: `The server does not take the nick: ${params.at(-1)}` });
    // The bot's own nick is fit, but taken: the next one is shorter.
    unfit += 1;
    if (unfit < mostUnfit) link.nameTaken();
    else
      link.fail(
        new Error(`The nick ${nick} is taken, and the server does not take ${link.name} instead: ${params.at(-1)}`),
      );
  };
  const ready = () => link.welcome();
  const nickTaken = () => link.nameTaken();
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
    903() {
      here.signedIn();
      link.write("CAP END");
    },
    ...{ 902: saslFailed, 904: saslFailed, 905: saslFailed, 908: saslFailed },
    ...{ 464: shutOut, 465: shutOut, 432: badNick, 433: nickTaken, 436: nickTaken },
    "001"({ params: [nick = link.name] }) {
      isIn = true;
      link.renamed(link.name, nick);
      // A server that does not know CAP would let the bot in without its account.
      if (needsSasl && !caps.has("sasl")) noSasl();
    },
    "005": ({ params }) => void (params.includes("WHOX") && caps.add("WHOX")),
    ...{ 376: ready, 422: ready },
  };
}
