/** What becomes of messages when the platform goes away, makes the bot wait, or the process dies. */
import type { ChannelConnection, ChannelDefinition } from "../../../sdk/contract.ts";
import type { TestHost } from "../../host/options.ts";
import { realWait } from "../../host/played-clock.ts";
import { type Bench, shown } from "../bench.ts";
import { connected, openConversation } from "../conversation.ts";
import { losesContact, reportsWithinMinutes } from "../outage.ts";
import type { Rule } from "../rule.ts";

/** Written again and again, because a platform may keep nothing for a bot that is not connected. */
async function receivesAgain(bench: Bench, text: string, problem: string): Promise<void> {
  await bench.until(
    async () => {
      await bench.platform.write(text);
      await bench.clock.advance(500);
      await realWait(20);
      return bench.messages().some(({ inbound }) => inbound.text.includes(text));
    },
    () => problem,
  );
}

async function reconnects(bench: Bench): Promise<void> {
  const { test } = bench;
  await bench.meet("before");
  await bench.fail("away");
  const state = () => test.statuses.at(-1)?.state;
  await losesContact(bench);
  // Some attempts to connect fail.
  await realWait(200);
  await bench.fail("back");
  await receivesAgain(
    bench,
    "after the outage",
    "The platform is available again, but no message was received. Reconnect automatically.",
  );
  await reportsWithinMinutes(
    bench,
    () => state() === "connected",
    () => `The platform is available again, but the status is ${state()}. Report connected.`,
  );
}

async function returnsAfterReset(bench: Bench): Promise<void> {
  const { address } = await bench.meet("before");
  await bench.fail("reset");
  const problem = "The platform ended the connection and takes a new one, but no later message was received.";
  await receivesAgain(bench, "after the reset", `${problem} Connect again whenever a connection is lost.`);
  await bench.send("sent after the reset", address);
  await bench.until(
    () => bench.platform.read().some((text) => text.includes("sent after the reset")),
    () => "The platform ended the connection and took a new one, but a message that is sent over it does not arrive.",
  );
}

async function noticesSilence(bench: Bench): Promise<void> {
  await bench.meet("before");
  await bench.fail("silent");
  // What was answered before is read first.
  await realWait(50);
  const before = bench.test.statuses.length;
  await reportsWithinMinutes(
    bench,
    () => bench.test.statuses.slice(before).some(({ state }) => state !== "connected"),
    () =>
      "The platform has answered nothing for ten minutes, but the status is still connected. Ask it something " +
      "from time to time, and give every call a time limit.",
  );
}

/** Plays time until a condition holds, slowly enough for a connection that is made meanwhile. */
async function advanced(bench: Bench, host: TestHost, condition: () => boolean, problem: () => string): Promise<void> {
  await bench.until(async () => {
    if (condition()) return true;
    await host.advance(2_000);
    await realWait(80);
    return condition();
  }, problem);
}

const answers = ({ platform }: Bench) => platform.read().filter((text) => text.includes("heard: How are you?")).length;

async function arrivesAfterWait(bench: Bench): Promise<void> {
  let turns = 0;
  await using host = await openConversation(bench, {
    async answer({ inbound }) {
      turns += 1;
      if (turns === 1) await bench.fail("limit");
      return `heard: ${inbound.text}`;
    },
  });
  await bench.platform.write("How are you?");
  await advanced(
    bench,
    host,
    () => answers(bench) > 0,
    () => "The platform asked for a wait of two seconds, but the reply did not arrive afterwards.",
  );
  await host.advance(10_000);
  if (answers(bench) !== 1)
    throw new Error(`After a wait that the platform asked for, the reply arrived ${answers(bench)} times.`);
}

async function arrivesAfterOutage(bench: Bench): Promise<void> {
  let isAway = false;
  await using host = await openConversation(bench, {
    async answer({ inbound }) {
      await bench.fail("away");
      isAway = true;
      return `heard: ${inbound.text}`;
    },
  });
  await bench.platform.write("How are you?");
  await bench.until(
    () => isAway,
    () => "The person wrote, but no turn began.",
  );
  await host.advance(500);
  await bench.fail("back");
  await advanced(
    bench,
    host,
    () => answers(bench) > 0,
    () => "The platform was unavailable during a send, and the reply did not arrive after the outage.",
  );
  await host.advance(10_000);
  if (answers(bench) !== 1) throw new Error(`After an outage, the reply arrived ${answers(bench)} times.`);
}

/**
 * The channel in a process that dies over its first send: `reaches` says whether the platform had the message by then.
 * Everything that the next process does is the channel's own.
 */
function dyingOverSend(
  definition: ChannelDefinition,
  reaches: boolean,
): { readonly definition: ChannelDefinition; readonly died: () => boolean } {
  let died = false;
  const dying = ({ send, ...connection }: ChannelConnection): ChannelConnection => ({
    ...connection,
    async send(part, address, signal) {
      if (reaches) await send(part, address, signal);
      died = true;
      return await new Promise(() => {});
    },
  });
  return {
    definition: {
      ...definition,
      open: (account) => (died ? definition.open(account) : dying(definition.open(account))),
    },
    died: () => died,
  };
}

/** A conversation whose process is killed in its first send, and that goes on in another one. */
async function killed(bench: Bench, reaches: boolean): Promise<TestHost> {
  const { definition, died } = dyingOverSend(bench.definition, reaches);
  const host = await openConversation(bench, { definition });
  await bench.platform.write("How are you?");
  await bench.until(died, () => "The person wrote, but no reply was sent.");
  await host.restart({ killed: true });
  await connected(bench, host);
  await advanced(
    bench,
    host,
    () => host.ended().length > 0,
    () => "The process was killed during a send, and the event does not end in the next process.",
  );
  return host;
}

async function countsRepetition(bench: Bench): Promise<void> {
  await using host = await killed(bench, true);
  const count = answers(bench);
  if (count < 1 || count > 2)
    throw new Error(
      `The process was killed after the platform had accepted the message, which arrived ${count} times. At ` +
        "most two are allowed.",
    );
  if (count === 2 && bench.capabilities.repeats !== undefined)
    throw new Error(
      "The process was killed after the platform had accepted the message, which arrived twice although the channel " +
        "declares capabilities.repeats. Pass part.key to the platform.",
    );
  const isTraced = host.ended().some(({ decisions }) => decisions.some(({ code }) => code === "possibly_repeated"));
  if (count === 2 && !isTraced)
    throw new Error(`The message arrived twice, but the trace does not say so: ${shown(host.ended())}.`);
}

async function repeatsLost(bench: Bench): Promise<void> {
  await using _host = await killed(bench, false);
  if (answers(bench) !== 1)
    throw new Error(
      `The process was killed before the platform had the message, which arrived ${answers(bench)} times. ` +
        "Another process must be able to send a part.",
    );
}

export const recoveryRules: readonly Rule[] = [
  { title: "recovery > the account reconnects after an outage", needs: ["away", "back"], alone: true, run: reconnects },
  { title: "recovery > the account reconnects after a reset", needs: ["reset"], alone: true, run: returnsAfterReset },
  { title: "recovery > a platform that falls silent is noticed", needs: ["silent"], alone: true, run: noticesSilence },
  { title: "recovery > an answer arrives once after a wait", needs: ["limit"], alone: true, run: arrivesAfterWait },
  {
    title: "recovery > an answer arrives once after an outage",
    needs: ["away", "back"],
    alone: true,
    run: arrivesAfterOutage,
  },
  {
    title: "recovery > a process killed after the platform's acceptance repeats at most once",
    needs: ["lasting"],
    alone: true,
    run: countsRepetition,
  },
  {
    title: "recovery > a process killed before the platform's acceptance loses nothing",
    needs: ["lasting"],
    alone: true,
    run: repeatsLost,
  },
];
