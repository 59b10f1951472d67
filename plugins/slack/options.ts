/** What the operator sets for an account. */
import { type OptionProblem, type Static, secretText, Type } from "service-gateway/sdk/channel";

export const options = Type.Object({
  botToken: secretText({ description: "Token of the bot (xoxb-), from OAuth & Permissions." }),
  appToken: Type.Optional(
    secretText({
      description: "App-level token (xapp-) with connections:write, for Socket Mode. It needs no public address.",
    }),
  ),
  signingSecret: Type.Optional(
    secretText({ description: "Signing secret of the app, from Basic Information, for events posted to the gateway." }),
  ),
  team: Type.Optional(
    Type.String({
      pattern: "^[TE][A-Z0-9]{2,}$",
      expects: "the id of a workspace, such as T0123ABCD",
      description: "Workspace of the account, if several accounts share an app whose events are posted.",
    }),
  ),
  threadPerMention: Type.Boolean({
    default: false,
    description: "Whether each mention in a channel begins a thread, in which the bot needs no further mention.",
  }),
  slashCommand: Type.String({
    pattern: "^/[a-z0-9_-]{1,32}$",
    expects: "a slash command such as /ask",
    default: "/ask",
    description: "The app's slash command whose text is a message to the agent.",
  }),
  apiUrl: Type.String({
    pattern: "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$",
    expects: "an address such as https://slack.com/api",
    default: "https://slack.com/api",
    description: "Address of the Web API. Without TLS it must be on this machine.",
  }),
});

export type Options = Static<typeof options>;

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

export function checkOptions({ botToken, appToken, signingSecret, apiUrl }: Options): readonly OptionProblem[] {
  const problems: OptionProblem[] = [];
  const wrongToken = (option: string, token: string | undefined, prefix: string, place: string) => {
    if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
      problems.push({
        option,
        message: "contains spaces or letters that no token has",
        hint: `Copy it again: ${place}.`,
      });
    } else if (token?.startsWith(prefix) === false)
      problems.push({ option, message: `is not a token that begins with ${prefix}`, hint: `Copy it from ${place}.` });
  };
  wrongToken("botToken", botToken, "xoxb-", "OAuth & Permissions > Bot User OAuth Token");
  wrongToken("appToken", appToken, "xapp-", "Basic Information > App-Level Tokens");
  if (appToken === undefined && signingSecret === undefined)
    problems.push({
      option: "appToken",
      message: "is missing, so no events arrive",
      hint:
        "Set appToken for Socket Mode: Basic Information > App-Level Tokens > Generate, with connections:write. Or " +
        "set signingSecret, if Slack posts events to the gateway.",
    });
  if (!isSafeUrl(apiUrl))
    problems.push({
      option: "apiUrl",
      message: "would send the tokens to another machine without TLS",
      hint: "Use https, or an address of this machine.",
    });
  return problems;
}

/** Whether secrets may be sent there: with TLS, or within this machine. */
export function isSafeUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || (protocol === "http:" && loopback.test(hostname));
}

/** Whether an address that Slack names is one of Slack's own: the host of the API, or below it. */
export function isPlatformUrl(url: string, apiUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, protocol, username } = new URL(url);
  const own = new URL(apiUrl);
  const isEncrypted = protocol === "https:" || protocol === "wss:" || own.protocol === "http:";
  return isEncrypted && username === "" && (hostname === own.hostname || hostname.endsWith(`.${own.hostname}`));
}
