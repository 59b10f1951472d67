/** Messages of the bot that change, and that go. */
import { ChannelError } from "../../../contract/index.ts";
import { type Bench, never, shown } from "../bench.ts";
import type { Rule } from "../rule.ts";

/** Waits until the person sees these texts of the bot, and no others. */
async function sees(bench: Bench, wanted: readonly string[], problem: string): Promise<void> {
  const seen = () => bench.platform.read();
  const isSeen = () =>
    seen().length === wanted.length && wanted.every((text, index) => seen()[index]?.includes(text) === true);
  await bench.until(isSeen, () => `${problem}: the person sees ${shown(seen())} instead of ${shown(wanted)}.`);
}

async function changesInPlace(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const first = await bench.send("first version", address);
  await bench.send("another message", address);
  const receipt = await bench.send("second version", address, { replaces: first });
  await sees(bench, ["second version", "another message"], "A part with replaces did not change its message");
  if (receipt !== first)
    throw new Error(`An edit of the message ${first} has the receipt ${receipt}. Return the id of the message.`);
}

async function takesSameAgain(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const replaces = await bench.send("the same text", address);
  const outcome = await bench.ending(bench.send("the same text", address, { replaces }));
  if (outcome === "late" || "error" in outcome)
    throw new Error(
      "An edit that changes nothing does not resolve. The message already has the right text, so resolve.",
    );
  await sees(bench, ["the same text"], "An edit that changes nothing changed the chat");
}

async function failsInPlace(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const replaces = await bench.send("soon gone", address);
  await remove(bench, replaces, address);
  const outcome = await bench.ending(bench.send("too late", address, { replaces, inPlace: true }));
  if (outcome === "late" || "value" in outcome)
    throw new Error(
      "A part with inPlace replaces a deleted message, and send does not reject. Do not send a new message instead.",
    );
  const { error } = outcome;
  if (!(error instanceof ChannelError) || error.retryable)
    throw new Error("A part with inPlace replaces a deleted message. Throw a ChannelError that is not retryable.", {
      cause: error,
    });
}

async function sendsAnew(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const replaces = await bench.send("soon gone", address);
  await remove(bench, replaces, address);
  const outcome = await bench.ending(bench.send("the whole answer", address, { replaces }));
  if (outcome === "late" || "error" in outcome)
    throw new Error(
      "A part replaces a deleted message, and send fails. Without inPlace, send the part as a new message.",
    );
  await sees(bench, ["the whole answer"], "A part that replaces a deleted message did not arrive");
}

async function remove({ connection }: Bench, id: string, address: Parameters<Bench["render"]>[1]): Promise<void> {
  await connection.remove?.(id, address, never);
}

async function removes(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const first = await bench.send("stays", address);
  const second = await bench.send("goes", address);
  if (first === second) throw new Error(`Two messages have the same id, ${first}.`);
  await remove(bench, second, address);
  await sees(bench, ["stays"], "remove did not delete exactly its own message");
}

async function removesOnce(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const id = await bench.send("goes", address);
  await remove(bench, id, address);
  const outcome = await bench.ending(remove(bench, id, address));
  if (outcome === "late") throw new Error("remove of a deleted message does not end in time.");
  if ("value" in outcome) return;
  if (!(outcome.error instanceof ChannelError) || outcome.error.retryable)
    throw new Error("remove of a deleted message must resolve, or throw a ChannelError that is not retryable.", {
      cause: outcome.error,
    });
}

export const editRules: readonly Rule[] = [
  { title: "edits > a part with replaces changes its message", capability: "edits", needs: [], run: changesInPlace },
  { title: "edits > the same text again resolves", capability: "edits", needs: [], run: takesSameAgain },
  {
    title: "edits > an in-place edit of a deleted message sends no new one",
    capability: "edits",
    needs: [],
    run: failsInPlace,
  },
  {
    title: "edits > a reply arrives even if the message that it replaces was deleted",
    capability: "edits",
    needs: [],
    run: sendsAnew,
  },
  { title: "edits > remove deletes one message", capability: "edits", needs: [], run: removes },
  {
    title: "edits > remove accepts a message that is already deleted",
    capability: "edits",
    needs: [],
    run: removesOnce,
  },
];
