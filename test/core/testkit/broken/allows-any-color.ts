/** The schema of its fields allows what the platform refuses. */
import { Type } from "service-gateway/sdk";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const platformFields = Type.Object({ color: Type.String() });

export const broken: Broken = {
  channel: createPostbox(() => ({}), { platformFields }),
  caughtBy: "platformFields > the platform accepts its own fields",
  says: /The platform rejects a message with the example/,
  fixtures: { platformFields: { color: "orange" } },
};
