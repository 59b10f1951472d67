/** Sends that are repeated with the same key, on a platform that shows their message once. */
import { ChannelError, type Part, type Receipt } from "../../../contract/index.ts";
import { type Bench, never, shown } from "../bench.ts";
import type { Rule } from "../rule.ts";

/** As long as the keys of the gateway. */
const [firstKey, secondKey] = ["0123456789abcdef0123", "0123456789abcdef0124"];

/** Sends a text with a key, as often as it is called. */
async function sender(bench: Bench, text: string): Promise<(key: string) => Promise<Receipt>> {
  const { address } = await bench.meet("Hello");
  const [part] = bench.render(text, address);
  if (part === undefined) throw new Error("render returns no part for a short text.");
  const json = JSON.stringify(part);
  return (key) => bench.connection.send({ ...(JSON.parse(json) as Part), key }, address, never);
}

/** Whether the person sees the text this many times, once a message sent after it has arrived. */
async function sees(bench: Bench, text: string, times: number, problem: string): Promise<void> {
  const { address } = await bench.meet("And now?");
  await bench.send("the last message", address);
  await bench.until(
    () => bench.platform.read().some((one) => one.includes("the last message")),
    () => "A message without a key does not arrive.",
  );
  const seen = bench.platform.read().filter((one) => one.includes(text)).length;
  if (seen !== times) throw new Error(`${problem}: the person sees ${shown(bench.platform.read())}.`);
}

const remedy = "Pass part.key to the platform, or do not declare capabilities.repeats";

async function showsOnce(bench: Bench): Promise<void> {
  const send = await sender(bench, "only once");
  const [first, again] = [await send(firstKey), await send(firstKey)];
  await sees(bench, "only once", 1, `A message that was sent twice with the same key is there twice. ${remedy}`);
  if (first.messageId !== again.messageId)
    throw new Error(
      `The repetition of the message ${first.messageId} has the receipt ${again.messageId}. Return the id of the ` +
        "message that is there.",
    );
}

async function showsBoth(bench: Bench): Promise<void> {
  const send = await sender(bench, "the same words");
  await send(firstKey);
  await send(secondKey);
  await sees(
    bench,
    "the same words",
    2,
    "Two messages with the same text and different keys are not both there. Pass part.key unchanged",
  );
}

async function showsOnceAfterCut(bench: Bench): Promise<void> {
  const send = await sender(bench, "cut off");
  await bench.fail("cut");
  const outcome = await bench.ending(send(firstKey));
  if (outcome !== "late" && "error" in outcome && !(outcome.error instanceof ChannelError))
    throw new Error("The connection broke, and send throws an error that is not a ChannelError.", {
      cause: outcome.error,
    });
  const { messageId } = await send(firstKey);
  await sees(bench, "cut off", 1, `A message that was sent again after a broken connection is there twice. ${remedy}`);
  if (messageId === "")
    throw new Error("The repetition has no message id. Return the id of the message that is there.");
}

export const repetitionRules: readonly Rule[] = [
  { title: "repetition > the same key twice is one message", capability: "repeats", needs: [], run: showsOnce },
  { title: "repetition > another key is another message", capability: "repeats", needs: [], run: showsBoth },
  {
    title: "repetition > a send repeated after a broken connection is one message",
    capability: "repeats",
    needs: ["cut"],
    run: showsOnceAfterCut,
  },
];
