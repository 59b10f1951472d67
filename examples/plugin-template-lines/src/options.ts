/** What the operator sets for an account. */
import { type Static, secretText, serverOptions, Type } from "service-gateway/sdk/channel";

// An error quotes `expects` instead of the pattern.
export const options = Type.Object({
  ...serverOptions({ port: 7000 }),
  name: Type.String({
    pattern: "^[\\w-]{1,30}$",
    expects: "1 to 30 letters, digits, _ or -",
    description: "Name of the bot.",
  }),
  password: Type.Optional(secretText({ description: "Password of the bot." })),
  rooms: Type.Array(Type.String({ pattern: "^#[\\w-]+$", expects: "a room such as #general" }), {
    default: [],
    description: "Rooms that the bot joins.",
  }),
});

export type Options = Static<typeof options>;
