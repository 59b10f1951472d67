/** What the bot shows beside messages: reactions, and that it is typing. */
import { type Address, ChannelError } from "../../../contract/index.ts";
import { type Bench, shown } from "../bench.ts";
import type { Rule } from "../rule.ts";

/** The message of a person that the bot reacts to. */
async function met(bench: Bench): Promise<{ readonly messageId: string; readonly address: Address }> {
  const { inbound, address } = await bench.meet("Hello");
  if (inbound.messageId === undefined)
    throw new Error("The capability reactions is declared, but a message has no messageId to react to.");
  return { messageId: inbound.messageId, address };
}

async function showsReactions(bench: Bench, wanted: readonly string[], situation: string): Promise<void> {
  const seen = () => bench.able("reactions")();
  await bench.until(
    () => shown(seen()) === shown(wanted),
    () => `${situation}, and the person sees ${shown(seen())} instead of ${shown(wanted)}.`,
  );
}

async function reacts(bench: Bench): Promise<void> {
  const { messageId, address } = await met(bench);
  await bench.connection.react?.(messageId, "👍", address);
  await showsReactions(bench, ["👍"], "The bot reacted");
}

async function replacesReaction(bench: Bench): Promise<void> {
  const { messageId, address } = await met(bench);
  await bench.connection.react?.(messageId, "👍", address);
  await bench.connection.react?.(messageId, "👀", address);
  await showsReactions(bench, ["👀"], "The bot changed its reaction");
}

async function removesReaction(bench: Bench): Promise<void> {
  const { messageId, address } = await met(bench);
  await bench.connection.react?.(messageId, "👍", address);
  await bench.connection.react?.(messageId, null, address);
  await showsReactions(bench, [], "The reaction was removed");
}

/** A gesture fails with an error that the host understands, or counts as done. */
async function failsProperly(bench: Bench, gesture: Promise<void> | undefined, situation: string): Promise<void> {
  const outcome = await bench.ending(Promise.resolve(gesture));
  if (outcome === "late") throw new Error(`${situation}, and the call does not end in time.`);
  if ("error" in outcome && !(outcome.error instanceof ChannelError))
    throw new Error(`${situation}, and the call throws an error that is not a ChannelError.`, { cause: outcome.error });
}

async function refusesReaction(bench: Bench): Promise<void> {
  const { address } = await met(bench);
  await failsProperly(
    bench,
    bench.connection.react?.("987654321", "👍", address),
    "The bot reacts to a message that does not exist",
  );
}

async function types(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  await bench.connection.typing?.(address);
  await bench.until(
    () => bench.able("typing")() > 0,
    () => "The bot is typing, but the person does not see it.",
  );
}

async function typesInOutage(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  await bench.fail("away");
  await failsProperly(bench, bench.connection.typing?.(address), "The platform is unavailable while the bot is typing");
}

export const gestureRules: readonly Rule[] = [
  { title: "reactions > a reaction is set", capability: "reactions", needs: ["reactions"], run: reacts },
  {
    title: "reactions > a second reaction replaces the first",
    capability: "reactions",
    needs: ["reactions"],
    run: replacesReaction,
  },
  {
    title: "reactions > null removes the reaction",
    capability: "reactions",
    needs: ["reactions"],
    run: removesReaction,
  },
  {
    title: "reactions > a reaction to a missing message fails with a ChannelError",
    capability: "reactions",
    needs: ["reactions"],
    run: refusesReaction,
  },
  { title: "typing > the person sees it", capability: "typing", needs: ["typing"], run: types },
  { title: "typing > fails with a ChannelError", capability: "typing", needs: ["away"], run: typesInOutage },
];
