/** A person writes, and reads the answer of the agent: the way through a whole gateway. */
import { type Bench, shown } from "../bench.ts";
import { openConversation } from "../conversation.ts";
import type { PlatformPlace } from "../options.ts";
import type { Rule } from "../rule.ts";

async function converses(bench: Bench, where: PlatformPlace): Promise<void> {
  const { platform } = bench;
  await using _host = await openConversation(bench);
  const place = where.thread === true ? " in a thread" : where.group === true ? " in a group" : "";
  await platform.write("How are you?", { ...where, mention: true });
  await bench.until(
    () => platform.read(where).some((text) => /heard: .*How are you\?/s.test(text)),
    () => `The person wrote${place} and sees ${shown(platform.read(where))} there. The reply is missing.`,
  );
}

export const conversationRules: readonly Rule[] = [
  { title: "conversation > a person is answered", needs: [], run: (bench) => converses(bench, {}) },
  {
    title: "conversation > an answer stays in its thread",
    capability: "threads",
    needs: [],
    run: (bench) => converses(bench, { thread: true }),
  },
  {
    title: "conversation > an answer stays in its group",
    needs: ["groups"],
    run: (bench) => converses(bench, { group: true }),
  },
];
