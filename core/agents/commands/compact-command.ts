/** `/compact`: summarizes the older part of the conversation now. */
import type { CommandDefinition } from "../../sdk/contract.ts";
import type { Compactions } from "../compaction/compaction.ts";
import { defuseLines } from "../conversation/envelope.ts";
import { askerOf } from "../spending/asker.ts";
import { renderShare } from "../spending/wording.ts";

const mostFocus = 300;

export function compactCommand(compactions: Pick<Compactions, "now">): CommandDefinition {
  return {
    name: "compact",
    summary: "summarize the older part of this conversation",
    args: "[WHAT TO KEEP]",
    role: "allowed",
    async run({ inbound, route, args }) {
      const focus = defuseLines(args.trim()).slice(0, mostFocus);
      const done = await compactions.now({ inbound, route, asker: askerOf(inbound, route), focus });
      if (done === undefined)
        return "There is nothing to summarize yet: this conversation has only its last turns, which stay as they are.";
      const { messages, before, after, room } = done;
      return (
        `${messages} ${messages === 1 ? "message is" : "messages are"} summarized now: ` +
        `${renderShare(after, room, "tokens")} are used, ${before - after} fewer than before.`
      );
    },
  };
}
