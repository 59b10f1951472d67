/** Hands in, behind its close, what it has fetched before. */
import { setTimeout as delay } from "node:timers/promises";
import type { Json } from "service-gateway/sdk";
import { createPostbox } from "../postbox/channel.ts";
import type { Broken } from "./index.ts";

const channel = createPostbox(({ close }, { options: { url, token }, receive }) => {
  async function handIn(): Promise<void> {
    await delay(20);
    const response = await fetch(`${url}/events?after=0&token=${token}`);
    for (const event of (await response.json()) as readonly Json[])
      await receive(event, { id: "late", lane: "postbox:default:7:" });
  }
  return {
    async close() {
      await close();
      void handIn().catch(() => {});
    },
  };
});

export const broken: Broken = {
  channel,
  caughtBy: "life > nothing is received after close",
  says: /written after close was received/,
};
