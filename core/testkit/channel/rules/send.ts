/** What a channel sends, and what it says of a send that failed. */
import { getEventListeners } from "node:events";
import { ChannelError, type Part, type Receipt } from "../../../contract/index.ts";
import { receiptProblem } from "../../../host/index.ts";
import { realWait } from "../../host/played-clock.ts";
import { type Bench, type Ending, never, shown } from "../bench.ts";
import type { Rule } from "../rule.ts";

/** A message of the bot, ready to be sent to the person who wrote. */
export async function prepare(bench: Bench, text: string): Promise<() => Promise<Receipt>> {
  const { address } = await bench.meet("Hello");
  const [part] = bench.render(text, address);
  if (part === undefined) throw new Error("render makes no part of a short text.");
  return () => bench.connection.send(part, address, never);
}

/** The error of a send that must fail. */
async function errorOf(bench: Bench, send: () => Promise<Receipt>, situation: string): Promise<ChannelError> {
  const outcome = await bench.ending(send());
  if (outcome === "late") throw new Error(`${situation}, and send does not end in time.`);
  if ("value" in outcome) throw new Error(`${situation}, and send resolves with ${shown(outcome.value)}: it must reject.`);
  const { error } = outcome;
  if (error instanceof ChannelError) return error;
  throw new Error(`${situation}, and send throws something else than a ChannelError: its fate would count as unknown.`, { cause: error });
}

/** A known outcome, as a promise. */
async function again(outcome: Ending<Receipt>): Promise<Receipt> {
  if (outcome === "late") return await new Promise(() => {});
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}

async function arrives(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const parts = JSON.parse(JSON.stringify(bench.render("Good morning", address))) as readonly Part[];
  for (const part of parts) {
    const receipt = await bench.connection.send(part, address, never);
    const problem = receiptProblem(receipt);
    if (problem !== undefined || receipt.messageId === "")
      throw new Error(`send resolves with ${shown(receipt)}: ${problem ?? "messageId is empty"}.`);
  }
  const seen = () => bench.platform.read();
  await bench.until(
    () => seen().some((text) => text.includes("Good morning")),
    () => `What was sent did not arrive; the person sees ${shown(seen())}.`,
  );
}

async function ordered(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const texts = Array.from({ length: 5 }, (_, index) => `message number ${index}`);
  for (const text of texts) for (const part of bench.render(text, address)) await bench.connection.send(part, address, never);
  const seen = () => bench.platform.read().filter((text) => text.includes("message number"));
  await bench.until(
    () => seen().length >= texts.length,
    () => `Of ${texts.length} messages the person sees ${seen().length}.`,
  );
  if (seen().some((text, index) => !text.includes(texts[index] ?? ""))) throw new Error(`The messages arrived as ${shown(seen())}.`);
}

async function takesHostileTexts(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  for (const text of ["**open", "```js\nopen", "<b>&lt", "[link](", "*_~`>#-|", "\u202eright to left"]) {
    for (const part of bench.render(text, address)) {
      const outcome = await bench.ending(bench.connection.send(part, address, never));
      if (outcome === "late" || "error" in outcome)
        throw new Error(`The platform does not take ${shown(part)}: ${shown(text)} has to arrive somehow.`);
    }
  }
}

async function stopsAtAbort(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const [part] = bench.render("Too late", address);
  const outcome = await bench.ending(bench.connection.send(part as Part, address, AbortSignal.abort()));
  if (outcome === "late") throw new Error("The signal was aborted, and send does not end in time.");
}

async function stopsWhileItHangs(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const [part] = bench.render("Never answered", address);
  await bench.fail("hang");
  const controller = new AbortController();
  const sending = bench.connection.send(part as Part, address, controller.signal);
  await realWait(50);
  controller.abort();
  if ((await bench.ending(sending)) === "late")
    throw new Error("The platform does not answer, the signal was aborted, and send does not end in time: hand the signal to the request.");
}

async function saysAway(bench: Bench): Promise<void> {
  const send = await prepare(bench, "Hello");
  await bench.fail("away");
  const { fate, retryable, reason } = await errorOf(bench, send, "The platform is away");
  if (fate === "not-sent" && !retryable)
    throw new Error(`The platform is away, and send says ${reason}, not retryable: the answer would be given up. It may work later.`);
}

async function doubtsCut(bench: Bench): Promise<void> {
  const send = await prepare(bench, "Only once");
  await bench.fail("cut");
  const { fate } = await errorOf(bench, send, "The connection broke after the message was taken");
  if (fate !== "unknown")
    throw new Error(
      "The connection broke after the message was taken, and send says not-sent: it would be sent a second time. Say unknown.",
    );
}

async function waitsForLimit(bench: Bench): Promise<void> {
  const send = await prepare(bench, "Slowly");
  await bench.fail("limit");
  const outcome = await bench.ending(send());
  // A channel may also do the waiting itself.
  if (outcome !== "late" && "value" in outcome) return;
  const { fate, retryable, retryAfterMs } = await errorOf(bench, () => again(outcome), "The platform asks for a wait");
  if (fate !== "not-sent" || !retryable) throw new Error("The platform asks for a wait: the error has to be not-sent and retryable.");
  if (retryAfterMs === undefined || retryAfterMs < 2_000)
    throw new Error(`The platform asks for a wait of 2 s, and retryAfterMs is ${retryAfterMs}: hand its time on, in milliseconds.`);
}

async function givesUpRefused(bench: Bench): Promise<void> {
  const send = await prepare(bench, "Hello");
  await bench.fail("refuse");
  let error: ChannelError | undefined;
  // The channel may need a moment to notice the outage.
  for (const from = performance.now(); error === undefined && performance.now() - from < 5_000; await realWait(20)) {
    const outcome = await bench.ending(send());
    if (outcome === "late" || "error" in outcome) error = await errorOf(bench, () => again(outcome), "The platform refuses every message");
  }
  if (error === undefined) throw new Error("The platform refuses every message, and send resolves: it must reject.");
  if (error.retryable || error.fate !== "not-sent")
    throw new Error("The platform refuses for good: the error has to be not-sent and not retryable, or it is tried for a day.");
}

/** Whether the person sees a message with this text, once everything that is under way has arrived. */
async function arrived(bench: Bench, text: string): Promise<boolean> {
  await realWait(100);
  return bench.platform.read().some((one) => one.includes(text));
}

async function tellsFateOfAbort(bench: Bench): Promise<void> {
  const send = await prepareWith(bench, "Aborted before it began", AbortSignal.abort());
  const outcome = await bench.ending(send());
  const isThere = await arrived(bench, "Aborted before it began");
  if (outcome !== "late" && "value" in outcome && !isThere)
    throw new Error("The signal was aborted, nothing was sent, and send resolves: reject, or the answer is lost.");
  if (outcome !== "late" && "error" in outcome && outcome.error instanceof ChannelError && outcome.error.fate === "not-sent" && isThere)
    throw new Error("The signal was aborted, the message arrived, and send says not-sent: it would be sent a second time.");
}

async function prepareWith(bench: Bench, text: string, signal: AbortSignal): Promise<() => Promise<Receipt>> {
  const { address } = await bench.meet("Hello");
  const [part] = bench.render(text, address);
  return () => bench.connection.send(part as Part, address, signal);
}

async function doubtsAbort(bench: Bench): Promise<void> {
  const controller = new AbortController();
  const send = await prepareWith(bench, "Never answered", controller.signal);
  await bench.fail("hang");
  const sending = bench.ending(send());
  await realWait(100);
  controller.abort();
  const outcome = await sending;
  if (outcome === "late" || "value" in outcome) return;
  if (outcome.error instanceof ChannelError && outcome.error.fate === "not-sent")
    throw new Error("A send was aborted after its request had gone out, and says not-sent: the platform may have it. Say unknown.");
}

async function keepsNoListener(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const { signal } = new AbortController();
  const sends = 12;
  for (let count = 0; count < sends; count += 1)
    for (const part of bench.render(`message number ${count}`, address)) await bench.connection.send(part, address, signal);
  await bench.until(
    () => getEventListeners(signal, "abort").length < sends,
    () => `After ${sends} sends their signal has ${getEventListeners(signal, "abort").length} listeners: remove each when its send ends.`,
  );
}

export const sendRules: readonly Rule[] = [
  { title: "send > a text arrives, from parts that were JSON", needs: [], run: arrives },
  { title: "send > messages arrive in their order", needs: [], run: ordered },
  { title: "send > every text is taken", needs: [], run: takesHostileTexts },
  { title: "send > an abort ends it", needs: [], run: stopsAtAbort },
  { title: "send > an abort ends it while the platform hangs", needs: ["hang"], run: stopsWhileItHangs },
  { title: "send > a platform that is away is tried again", needs: ["away"], run: saysAway },
  { title: "send > a broken connection is of unknown fate", needs: ["cut"], run: doubtsCut },
  { title: "send > a wait that the platform asks for is handed on", needs: ["limit"], run: waitsForLimit },
  { title: "send > a refusal for good is not tried again", needs: ["refuse"], run: givesUpRefused },
  { title: "send > an abort before it begins has the right fate", needs: [], run: tellsFateOfAbort },
  { title: "send > an abort in mid-send leaves the fate unknown", needs: ["hang"], run: doubtsAbort },
  { title: "send > leaves no listener on the signal", needs: [], run: keepsNoListener },
];
