/** What the operator sets for an account. */
import { paceOptions, type Static, secretText, serverOptions, Type } from "service-gateway/sdk/channel";

const secret = (description: string) => Type.Optional(secretText({ description }));

export const options = Type.Object({
  ...serverOptions({ port: 6697 }),
  nick: Type.String({
    pattern: "^[A-Za-z\\[\\]\\\\`_^{|}][\\w\\[\\]\\\\`^{|}-]{0,29}$",
    expects: "a nick: a letter or one of []\\`_^{|}, then at most 29 of these, digits and -",
    description: "The bot's nick.",
  }),
  channels: Type.Array(Type.String({ pattern: "^[#&!+][^\\s,:]+$", expects: "a channel such as #bread" }), {
    default: [],
    description: "Channels that the bot joins.",
  }),
  channelKeys: secret("Keys of channels, such as `#bread=crust #cake=cream`."),
  saslUser: Type.Optional(
    Type.String({ minLength: 1, description: "Account at the network's services. Default: the nick." }),
  ),
  saslPassword: secret("Its password, for SASL PLAIN."),
  serverPassword: secret("Password of the server itself (PASS)."),
  ...paceOptions({ burst: 5, everyMs: 2_000 }),
});

export type Options = Static<typeof options>;
