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

async function takesCommands(bench: Bench): Promise<void> {
  const { platform, definition } = bench;
  const { commandPrefix = "/" } = definition;
  let turns = 0;
  await using _host = await openConversation(bench, {
    answer() {
      turns += 1;
      return "an answer of the agent";
    },
  });
  await platform.write(`${commandPrefix}help`);
  await bench.until(
    () => platform.read().length > 0,
    () => `The person wrote ${commandPrefix}help and sees nothing.`,
  );
  const seen = platform.read().join("\n");
  if (turns > 0 || !seen.includes(`${commandPrefix}stop`))
    throw new Error(
      `The person wrote ${commandPrefix}help and sees ${shown(seen)} instead of the commands, each with ` +
        `${commandPrefix}. parse must return the text as it was typed.`,
    );
}

export const conversationRules: readonly Rule[] = [
  {
    title: "conversation > a command with the prefix of the channel is run, and named with it",
    declares: ({ commandPrefix }) => commandPrefix !== undefined,
    needs: [],
    run: takesCommands,
  },
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
