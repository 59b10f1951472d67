/** What the operator sets for an account, and what follows from it: the bot and the hosts. */
import { type OptionProblem, type Static, secretText, Type } from "service-gateway/sdk/channel";
import { isSnowflake } from "./snowflake.ts";

const publicRoot = "https://discord.com/api/v10";

export const options = Type.Object({
  token: secretText({ description: "Token of the bot." }),
  apiRoot: Type.String({
    default: publicRoot,
    pattern: "^https?://[^?#@]+$",
    expects: "an http or https address, such as https://discord.com/api/v10",
    description: "Address of the API, with its version. Change it for a proxy or a test only: the token is sent there.",
  }),
  slashCommands: Type.Boolean({
    default: true,
    description: "Whether the commands of the gateway are registered as slash commands of the bot.",
  }),
});

export type Options = Static<typeof options>;

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The token must not cross a network in the clear. */
export function checkOptions({ apiRoot }: Options): readonly OptionProblem[] {
  const { protocol, hostname } = new URL(apiRoot);
  if (protocol === "https:" || loopback.test(hostname)) return [];
  return [
    {
      option: "apiRoot",
      message: "is not encrypted, and the token is sent there",
      hint: "Use https. Plain http is for this machine only, such as http://127.0.0.1:8080/api/v10.",
    },
  ];
}

/** The hosts that an account talks to. */
export interface Hosts {
  /** Without a slash at its end. */
  readonly apiRoot: string;
  /** Whether the token may be sent to this address of the gateway. */
  isGateway(url: string): boolean;
  /** Whether a file may be downloaded from this address. No token is sent there. */
  isFile(url: string): boolean;
}

export function hostsOf({ apiRoot }: Pick<Options, "apiRoot">): Hosts {
  const root = new URL(apiRoot);
  const isPublic = root.hostname === "discord.com";
  /** Of another host than the maker's, only this one, and without TLS only if the operator has chosen so. */
  const isOf = (url: string, { scheme, domains }: { readonly scheme: string; readonly domains: RegExp }) => {
    if (!URL.canParse(url)) return false;
    const { protocol, hostname, username } = new URL(url);
    if (username !== "") return false;
    if (isPublic) return protocol === `${scheme}s:` && domains.test(hostname);
    return (
      hostname === root.hostname &&
      [`${scheme}s:`, ...(root.protocol === "http:" ? [`${scheme}:`] : [])].includes(protocol)
    );
  };
  return {
    apiRoot: apiRoot.replace(/\/+$/, ""),
    isGateway: (url) => isOf(url, { scheme: "ws", domains: /^(?:[\w-]+\.)*discord\.gg$/ }),
    isFile: (url) => isOf(url, { scheme: "http", domains: /^(?:cdn\.discordapp\.com|media\.discordapp\.net)$/ }),
  };
}

/** The id of the bot, which its token begins with, in base64. */
export function botOf(token: string): string | undefined {
  const [first = ""] = token.split(".");
  const bot = Buffer.from(first, "base64url").toString("latin1");
  return isSnowflake(bot) ? bot : undefined;
}
