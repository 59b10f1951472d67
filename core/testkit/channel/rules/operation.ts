/** What the gateway asks of a connection beside messages: its menu, its state, ids for names, a pause. */
import { ChannelError, type Part } from "../../../contract/index.ts";
import { receiptProblem } from "../../../host/index.ts";
import { realWait } from "../../host/played-clock.ts";
import { type Bench, never, shown, started, textReply } from "../bench.ts";
import type { Rule } from "../rule.ts";

async function hasMenu(bench: Bench, wanted: string, situation: string): Promise<void> {
  const menu = () => bench.able("menu")();
  await bench.until(
    () => shown(menu()) === shown([wanted]),
    () => `${situation}, and the menu has ${shown(menu())} instead of ${shown([wanted])}.`,
  );
}

async function registersMenu(bench: Bench): Promise<void> {
  await bench.connection.start();
  await hasMenu(bench, "help", "The connection has started");
}

async function replacesMenu(bench: Bench): Promise<void> {
  await bench.connection.start();
  // The menu of the start is registered by itself, and comes first.
  await realWait(100);
  await bench.connection.menu?.([{ name: "status", summary: "Shows the state." }]);
  await hasMenu(bench, "status", "The commands have changed");
}

/** Asks on a connection that was never started, as the command line does. */
async function probe(bench: Bench): Promise<{ readonly ok: boolean; readonly detail: string }> {
  const outcome = await bench.ending(Promise.resolve(bench.connection.probe?.()));
  if (outcome === "late") throw new Error("probe does not end in time.");
  if ("error" in outcome || outcome.value === undefined)
    throw new Error("probe does not resolve. Return ok: false and the reason.");
  if (outcome.value.detail.trim() === "")
    throw new Error("The detail of a probe is empty. Describe the result in one sentence.");
  return outcome.value;
}

async function probes(bench: Bench): Promise<void> {
  const found = await probe(bench);
  if (!found.ok) throw new Error(`The platform is available, but probe returns ${shown(found)}.`);
}

async function probesOutage(bench: Bench): Promise<void> {
  await bench.fail("away");
  const found = await probe(bench);
  if (found.ok) throw new Error(`The platform is unavailable, but probe returns ${shown(found)}.`);
}

async function resolvesId(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const found = await bench.connection.resolve?.(address.chat);
  if (found !== address.chat)
    throw new Error(`resolve turns the chat id ${address.chat} into ${shown(found)}. Return an id unchanged.`);
}

async function refusesTarget(bench: Bench): Promise<void> {
  await bench.connection.start();
  const outcome = await bench.ending(Promise.resolve(bench.connection.resolve?.("no such recipient, at all")));
  if (outcome === "late" || "value" in outcome || !(outcome.error instanceof ChannelError))
    throw new Error("resolve does not throw a ChannelError for a recipient that does not exist.");
}

async function pauses(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  if ((await bench.ending(Promise.resolve(bench.connection.pause?.()))) === "late")
    throw new Error("pause does not end in time.");
  await bench.platform.write("written after the pause");
  const [part] = bench.render("sent after the pause", address);
  const problem = receiptProblem(await bench.connection.send(part as Part, address, never));
  if (problem !== undefined) throw new Error(`After pause, a send resolves with an invalid receipt: ${problem}.`);
  await realWait(150);
  if (bench.messages().some(({ inbound }) => inbound.text.includes("after the pause")))
    throw new Error("A message that was written after pause was received. Stop receiving at pause.");
}

/** A node stands by first, and starts on the same connection when it takes over. */
async function startsAfterStandby(bench: Bench): Promise<void> {
  if ((await bench.ending(Promise.resolve(bench.connection.standBy?.()))) === "late")
    throw new Error("standBy does not end in time.");
  await bench.platform.write("written to the node that serves");
  await realWait(150);
  if (bench.messages().length > 0)
    throw new Error(
      "standBy has fetched a message. Leave that to start, because another node receives for the account meanwhile.",
    );
  await started(bench);
  await bench.until(
    () => bench.messages().some(({ inbound }) => inbound.text.includes("to the node that serves")),
    () => "start follows standBy, but a message that was written before is not received.",
  );
}

async function maySpeakAfterMessage(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const outcome = await bench.ending(Promise.resolve(bench.connection.reaches?.(address)));
  if (outcome === "late") throw new Error("reaches does not end in time.");
  if ("error" in outcome) throw new Error("reaches rejects.", { cause: outcome.error });
  const { value } = outcome;
  if (value === "always" || value === "answer-only") return;
  if (typeof value?.untilMs !== "number")
    throw new Error(`reaches returns ${shown(value)} instead of "always", "answer-only" or { untilMs }.`);
  if (value.untilMs <= bench.clock.now())
    throw new Error(
      `A person has just written, and reaches says that the bot may write until ${value.untilMs}, which has passed. ` +
        "Use epoch milliseconds, and remember the person's last message.",
    );
}

async function admits(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const [part] = bench.render("Hello", address);
  const first = await bench.ending(Promise.resolve(bench.connection.admit?.(part as Part, address, never)));
  if (first === "late" || "error" in first)
    throw new Error("Nothing was sent before, but admit does not admit a part.");
  for (let count = 0; count < 200; count += 1) {
    const waiting = bench.connection.admit?.(part as Part, address, AbortSignal.abort());
    const outcome = await bench.ending(Promise.resolve(waiting));
    if (outcome === "late" || "error" in outcome)
      throw new Error("The signal is aborted, but admit does not resolve. It must never reject.");
  }
}

async function updates(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  bench.connection.update?.(bench.test.account.options);
  await bench.send("sent after an update", address);
  await bench.until(
    () => bench.platform.read().some((text) => text.includes("after an update")),
    () => "A message that is sent after update does not arrive.",
  );
}

async function findsStickers(bench: Bench): Promise<void> {
  await bench.connection.start();
  const found = (await bench.connection.findMedia?.("sticker", "wave", 2)) ?? [];
  if (found.length > 2) throw new Error(`findMedia was called with the limit 2, but returns ${found.length} stickers.`);
  for (const { ref } of found) {
    const parts = bench.connection.render(textReply("", { media: [{ ref, as: "sticker" }] }), {
      channel: bench.definition.id,
      account: "default",
      chat: "1",
    });
    if (parts.length === 0) throw new Error(`render returns no part for a sticker with the ref ${shown(ref)}.`);
  }
}

export const operationRules: readonly Rule[] = [
  { title: "menu > start registers the commands", capability: "menu", needs: ["menu"], run: registersMenu },
  {
    title: "menu > new commands replace the old ones",
    capability: "menu",
    needs: ["menu"],
    alone: true,
    run: replacesMenu,
  },
  { title: "probe > finds the platform", function: "probe", needs: [], run: probes },
  { title: "probe > reports an unavailable platform", function: "probe", needs: ["away"], run: probesOutage },
  { title: "resolve > an id resolves to itself", function: "resolve", needs: [], run: resolvesId },
  { title: "resolve > an unknown recipient is refused", function: "resolve", needs: [], run: refusesTarget },
  { title: "pause > stops receiving, and still sends", function: "pause", needs: [], run: pauses },
  {
    title: "standBy > fetches nothing, and a start follows it",
    function: "standBy",
    needs: [],
    unless: "posts",
    run: startsAfterStandby,
  },
  {
    title: "reaches > the bot may write to a person who has just written",
    function: "reaches",
    needs: [],
    run: maySpeakAfterMessage,
  },
  { title: "admit > admits a part, and ends at an abort", function: "admit", needs: [], run: admits },
  { title: "update > sending continues", function: "update", needs: [], run: updates },
  {
    title: "stickers > findMedia respects the limit, and each result can be sent",
    capability: "stickers",
    needs: [],
    run: findsStickers,
  },
];
