/** Has a function that the contract was not told of. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({}));

export const broken: Broken = {
  channel,
  caughtBy: "declaration > each function that no capability requires is listed",
  says: /The connection has update\(\)\. List it/,
  functions: ["admit", "fetchMedia", "members", "pause", "probe", "reaches", "resolve"],
};
