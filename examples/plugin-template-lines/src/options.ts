/** What the operator sets for an account. */
import { type Static, secretText, serverOptions, Type } from "service-gateway/sdk/channel";

export const options = Type.Object({
  ...serverOptions({ port: 7000 }),
  name: Type.String({ pattern: "^[\\w-]{1,30}$", description: "Name of the bot." }),
  password: Type.Optional(secretText({ description: "Password of the bot." })),
  rooms: Type.Array(Type.String({ pattern: "^#[\\w-]+$" }), { default: [], description: "Rooms that the bot joins." }),
});

export type Options = Static<typeof options>;
