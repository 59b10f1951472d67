/** `/compact`: summarizes the older part of the conversation now. */
import { EngineError, findCode } from "../../contract/index.ts";
import type { CommandDefinition } from "../../sdk/contract.ts";
import type { Compactions } from "../compaction/compaction.ts";
import type { Outcome } from "../compaction/summarize.ts";
import { defuseLines } from "../conversation/envelope.ts";
import { askerOf } from "../spending/asker.ts";
import { renderShare } from "../spending/wording.ts";

const mostFocus = 300;

/** The details are for the operator, in the log. */
function whyNot(brokenOff: unknown): string {
  const meaning = brokenOff instanceof EngineError ? findCode(brokenOff.reason)?.meaning : undefined;
  return meaning ?? "The model did not answer.";
}

const undone: Readonly<Record<Extract<Outcome, string>, string>> = {
  nothing: "There is nothing to summarize yet: this conversation has only its last turns, which stay as they are.",
  changed: "The conversation has changed meanwhile, so nothing is summarized. Send /compact again.",
  elsewhere: "This conversation is being summarized at the moment. /status shows when it is done.",
};

export function compactCommand(compactions: Pick<Compactions, "now">): CommandDefinition {
  return {
    name: "compact",
    summary: "summarize the older part of this conversation",
    args: "[WHAT TO KEEP]",
    role: "allowed",
    async run({ inbound, route, args }) {
      const focus = defuseLines(args.trim()).slice(0, mostFocus);
      const done = await compactions.now({ inbound, route, asker: askerOf(inbound, route), focus });
      if (typeof done === "string") return undone[done];
      const { messages, before, after, room, brokenOff } = done;
      const rest = brokenOff === undefined ? "" : ` The rest is not: ${whyNot(brokenOff)}`;
      return (
        `${messages} ${messages === 1 ? "message is" : "messages are"} summarized now: ` +
        `${renderShare(after, room, "tokens")} are used, ${Math.max(0, before - after)} fewer than before.${rest}`
      );
    },
  };
}
