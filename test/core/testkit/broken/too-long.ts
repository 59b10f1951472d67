/** Cuts where a line ends, however long that is. */
import type { Json } from "service-gateway/sdk";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(() => ({
  render({ text, buttons }) {
    const lines = text.split("\n").filter((line) => line !== "");
    return lines.map((line) => ({ kind: "text", chars: Math.min(line.length, 200), body: { text: line, buttons } as unknown as Json }));
  },
}));

export const broken: Broken = { channel, caughtBy: "render > keeps within maxChars", says: /leads to a part of 201, and maxChars is 200/ };
