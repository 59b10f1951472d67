/** Makes a new message where one was left. */
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ preview }) => ({
  preview: (address, how) => preview(address, { ...how, resume: [] }),
}));

export const broken: Broken = {
  channel,
  caughtBy: "preview > resumes after a killed process",
  says: /created a new message/,
};
