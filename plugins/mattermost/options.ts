/** What the operator sets for an account. */
import { filePath, type OptionProblem, type Static, Type } from "service-gateway/sdk/channel";

export const options = Type.Object({
  url: Type.String({
    pattern: "^https?://[^\\s?#@]+$",
    expects: "the address of the server, such as https://chat.example.org",
    description: "Address of the Mattermost server. Plain http is accepted for this machine only.",
  }),
  token: Type.Optional(Type.String({ minLength: 1, description: "Token of the bot account." })),
  tokenFile: Type.Optional(filePath({ description: "File with the token of the bot account." })),
  callbackUrl: Type.Optional(
    Type.String({
      pattern: "^https?://[^\\s?#@]+$",
      expects: "an address such as https://gateway.example.org",
      description:
        "Address at which the Mattermost server reaches the gateway's port. Without it, there are no buttons.",
    }),
  ),
  ephemeral: Type.Boolean({
    default: false,
    description:
      "Show answers of commands and refusals in a channel to one person. Needs a bot that is a system admin.",
  }),
  replyInThread: Type.Boolean({
    default: false,
    description: "Whether a message in a channel begins a thread, which is a conversation of its own.",
  }),
});

export type Options = Static<typeof options>;

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Options whose form is right, and which cannot work. */
export function checkOptions({ url, callbackUrl }: Options): readonly OptionProblem[] {
  const problems: OptionProblem[] = [];
  const address = URL.parse(url);
  const hint = "Write the address that a browser shows, such as https://chat.example.org.";
  if (address === null) problems.push({ option: "url", message: "is not an address", hint });
  else if (address.protocol === "http:" && !loopback.test(address.hostname)) {
    const message = "would send the token of the bot without encryption";
    problems.push({ option: "url", message, hint: "Use https. Plain http is accepted for this machine only." });
  }
  if (callbackUrl !== undefined && URL.parse(callbackUrl) === null)
    problems.push({
      option: "callbackUrl",
      message: "is not an address",
      hint: "Write where the Mattermost server reaches the gateway's port, such as https://gateway.example.org.",
    });
  return problems;
}
