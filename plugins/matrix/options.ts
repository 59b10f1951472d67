/** What the operator sets for an account. */
import { type OptionProblem, type Static, secretText, Type } from "service-gateway/sdk/channel";

export const options = Type.Object({
  homeserver: Type.String({
    pattern: "^(?:https?://)?[^\\s/?#@]+/?$",
    expects: "a server name such as example.org, or an address such as https://matrix.example.org",
    description: "Server name of the bot's homeserver, or its address. `http://` is for this machine only.",
  }),
  accessToken: secretText({ description: "Access token of the bot." }),
  notices: Type.Boolean({
    default: false,
    description:
      "Send replies as `m.notice`: clients show them dimmed and without a sound, and other bots ignore them.",
  }),
  readReceipts: Type.Boolean({ default: true, description: "Whether people see that the bot has read a message." }),
});

export type Options = Static<typeof options>;

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether a token may be sent to this address: over TLS, or to this machine. */
export const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && loopback.test(hostname));

export function originOf(homeserver: string): URL | undefined {
  const address = /^https?:\/\//.test(homeserver) ? homeserver : `https://${homeserver}`;
  return URL.canParse(address) ? new URL(address) : undefined;
}

export function checkOptions({ homeserver }: Options): readonly OptionProblem[] {
  const origin = originOf(homeserver);
  if (origin !== undefined && isSafe(origin)) return [];
  const message =
    origin === undefined ? "is not the name of a server" : "would send the access token without encryption";
  return [{ option: "homeserver", message, hint: "Use an address that begins with https://." }];
}
