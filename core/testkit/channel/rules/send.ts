/** What a channel sends, and what it says of a send that failed. */
import { getEventListeners } from "node:events";
import { ChannelError, findCode, type Part, type Receipt } from "../../../contract/index.ts";
import { receiptProblem } from "../../../host/index.ts";
import { realWait } from "../../host/played-clock.ts";
import { type Bench, type Ending, never, shown } from "../bench.ts";
import type { Rule } from "../rule.ts";

/** A message of the bot, ready to be sent to the person who wrote. */
export async function prepare(bench: Bench, text: string): Promise<() => Promise<Receipt>> {
  const { address } = await bench.meet("Hello");
  const [part] = bench.render(text, address);
  if (part === undefined) throw new Error("render returns no part for a short text.");
  return () => bench.connection.send(part, address, never);
}

/** The error of a send that must fail. */
async function errorOf(bench: Bench, send: () => Promise<Receipt>, situation: string): Promise<ChannelError> {
  const outcome = await bench.ending(send());
  if (outcome === "late") throw new Error(`${situation}, and send does not end in time.`);
  if ("value" in outcome)
    throw new Error(`${situation}, and send resolves with ${shown(outcome.value)}. It must reject.`);
  const { error } = outcome;
  if (error instanceof ChannelError) return error;
  throw new Error(
    `${situation}, and send throws an error that is not a ChannelError, so its outcome would be unknown.`,
    { cause: error },
  );
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
    () => `A sent message did not arrive. The person sees ${shown(seen())}.`,
  );
}

async function ordered(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const texts = Array.from({ length: 5 }, (_, index) => `message number ${index}`);
  for (const text of texts)
    for (const part of bench.render(text, address)) await bench.connection.send(part, address, never);
  const seen = () => bench.platform.read().filter((text) => text.includes("message number"));
  await bench.until(
    () => seen().length >= texts.length,
    () => `The person sees ${seen().length} of ${texts.length} messages.`,
  );
  if (seen().some((text, index) => !text.includes(texts[index] ?? "")))
    throw new Error(`The messages arrived as ${shown(seen())}.`);
}

async function takesHostileTexts(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  for (const text of ["**open", "```js\nopen", "<b>&lt", "[link](", "*_~`>#-|", "\u202eright to left"]) {
    for (const part of bench.render(text, address)) {
      const outcome = await bench.ending(bench.connection.send(part, address, never));
      if (outcome === "late" || "error" in outcome)
        throw new Error(`The platform rejects ${shown(part)}. Every text must arrive, including ${shown(text)}.`);
    }
  }
}

async function stopsAtAbort(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const [part] = bench.render("Too late", address);
  const outcome = await bench.ending(bench.connection.send(part as Part, address, AbortSignal.abort()));
  if (outcome === "late") throw new Error("The signal was aborted, but send does not end in time.");
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
    throw new Error(
      "The platform does not respond and the signal was aborted, but send does not end in time. Pass the " +
        "signal to the request.",
    );
}

async function saysAway(bench: Bench): Promise<void> {
  const send = await prepare(bench, "Hello");
  await bench.fail("away");
  const { fate, retryable, reason } = await errorOf(bench, send, "The platform is away");
  if (fate === "not-sent" && !retryable)
    throw new Error(
      `The platform is unavailable, and send reports ${reason}, not retryable, so the reply would be lost. ` +
        "Make the error retryable.",
    );
}

async function doubtsCut(bench: Bench): Promise<void> {
  const send = await prepare(bench, "Only once");
  await bench.fail("cut");
  const { fate } = await errorOf(bench, send, "The connection broke after the message was accepted");
  if (fate !== "unknown")
    throw new Error(
      "The connection broke after the message was accepted, but send reports not-sent, so it would be sent " +
        "a second time. Report unknown.",
    );
}

async function waitsForLimit(bench: Bench): Promise<void> {
  const send = await prepare(bench, "Slowly");
  await bench.fail("limit");
  const outcome = await bench.ending(send());
  // A channel may also do the waiting itself.
  if (outcome !== "late" && "value" in outcome) return;
  const { fate, retryable, retryAfterMs } = await errorOf(bench, () => again(outcome), "The platform asks for a wait");
  if (fate !== "not-sent" || !retryable)
    throw new Error("The platform asks for a wait. The error must be not-sent and retryable.");
  if (retryAfterMs === undefined || retryAfterMs < 2_000)
    throw new Error(
      `The platform asks for a wait of 2 s, but retryAfterMs is ${retryAfterMs}. Set it to the platform's ` +
        "time in milliseconds.",
    );
}

/** The error of a message that the platform refuses for good. */
async function refusal(bench: Bench): Promise<ChannelError> {
  const send = await prepare(bench, "Hello");
  await bench.fail("refuse");
  let error: ChannelError | undefined;
  // The channel may need a moment to notice the outage.
  for (const from = performance.now(); error === undefined && performance.now() - from < 5_000; await realWait(20)) {
    const outcome = await bench.ending(send());
    if (outcome === "late" || "error" in outcome)
      error = await errorOf(bench, () => again(outcome), "The platform refuses every message");
  }
  if (error === undefined) throw new Error("The platform refuses every message, but send resolves. It must reject.");
  return error;
}

/** The operator reads the meaning and the hint of the reason, which the registry has. */
async function namesKnownReason(bench: Bench): Promise<void> {
  const { reason } = await refusal(bench);
  if (findCode(reason, { plugin: bench.definition.codes ?? {} }) === undefined)
    throw new Error(
      `The error of send has the reason ${shown(reason)}, which is not registered. Declare it in codes, or ` +
        "use one of the gateway's.",
    );
}

async function givesUpRefused(bench: Bench): Promise<void> {
  const error = await refusal(bench);
  if (error.retryable || error.fate !== "not-sent")
    throw new Error(
      "The refusal is permanent. The error must be not-sent and not retryable; otherwise the gateway " +
        "retries for a day.",
    );
}

/** Whether the person sees a message with this text, once everything that is under way has arrived. */
async function arrived(bench: Bench, text: string): Promise<boolean> {
  await realWait(100);
  return bench.platform.read().some((one) => one.includes(text));
}

async function tellsFateOfAbort(bench: Bench): Promise<void> {
  const send = await prepareWith(bench, "The send was aborted before it began", AbortSignal.abort());
  const outcome = await bench.ending(send());
  const isThere = await arrived(bench, "The send was aborted before it began");
  if (outcome !== "late" && "value" in outcome && !isThere)
    throw new Error(
      "The signal was aborted and nothing was sent, but send resolves. It must reject; otherwise the reply is lost.",
    );
  if (
    outcome !== "late" &&
    "error" in outcome &&
    outcome.error instanceof ChannelError &&
    outcome.error.fate === "not-sent" &&
    isThere
  )
    throw new Error(
      "The signal was aborted and the message arrived, but send reports not-sent, so it would be sent a second time.",
    );
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
    throw new Error(
      "A send was aborted after its request had gone out, but reports not-sent. The platform may have " +
        "accepted it, so report unknown.",
    );
}

async function keepsNoListener(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const { signal } = new AbortController();
  const sends = 12;
  for (let count = 0; count < sends; count += 1)
    for (const part of bench.render(`message number ${count}`, address))
      await bench.connection.send(part, address, signal);
  await bench.until(
    () => getEventListeners(signal, "abort").length < sends,
    () =>
      `After ${sends} sends, their signal has ${getEventListeners(signal, "abort").length} listeners. ` +
      "Remove each when its send ends.",
  );
}

/**
 * What a webhook may name as a recipient. Where it is written into a command of the platform, a part of it may be read
 * as a command.
 */
const misleading: readonly ((chat: string) => string)[] = [
  (chat) => `${chat},${chat}`,
  (chat) => `${chat} ${chat}`,
  (chat) => `${chat}\r\n${chat}`,
  (chat) => `${chat}\u0000${chat}`,
];

async function reachesOneChat(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const before = bench.platform.read().length;
  const [part] = bench.render("misdirected", address);
  for (const chat of misleading.map((mislead) => mislead(address.chat))) {
    const outcome = await bench.ending(bench.connection.send(part as Part, { ...address, chat }, never));
    if (outcome === "late") throw new Error(`A send to ${shown(chat)}, which is not a chat, does not end in time.`);
    if ("error" in outcome) await errorOf(bench, () => again(outcome), `${shown(chat)} is not a chat`);
    const seen = bench.platform.read().slice(before);
    if (seen.length > 0)
      throw new Error(
        `A message to ${shown(chat)}, which is not a chat, reached the person as ${shown(seen)}. Throw ` +
          "chat_not_found for an id that the platform cannot have.",
      );
  }
  await bench.send("the last one", address);
  await bench.until(
    () => bench.platform.read().length > before,
    () => "A message does not arrive after sends to chats that do not exist.",
  );
  const seen = bench.platform.read().slice(before);
  if (seen.length > 1)
    throw new Error(`Messages to recipients that do not exist reached the person as ${shown(seen)}.`);
}

export const sendRules: readonly Rule[] = [
  { title: "send > a text arrives, from parts that were JSON", needs: [], run: arrives },
  { title: "send > messages arrive in their order", needs: [], run: ordered },
  { title: "send > an id that is not a chat reaches no person", needs: [], run: reachesOneChat },
  { title: "send > every text is accepted", needs: [], run: takesHostileTexts },
  { title: "send > an abort ends the send", needs: [], run: stopsAtAbort },
  {
    title: "send > an abort ends the send while the platform does not respond",
    needs: ["hang"],
    run: stopsWhileItHangs,
  },
  { title: "send > an outage is retryable", needs: ["away"], run: saysAway },
  { title: "send > a broken connection has an unknown outcome", needs: ["cut"], run: doubtsCut },
  { title: "send > the platform's wait is reported", needs: ["limit"], run: waitsForLimit },
  { title: "send > the reason of a refusal is registered", needs: ["refuse"], run: namesKnownReason },
  { title: "send > a permanent refusal is not retryable", needs: ["refuse"], run: givesUpRefused },
  { title: "send > an abort before the send has the right outcome", needs: [], alone: true, run: tellsFateOfAbort },
  { title: "send > an abort during the send has an unknown outcome", needs: ["hang"], alone: true, run: doubtsAbort },
  { title: "send > leaves no listener on the signal", needs: [], run: keepsNoListener },
];
