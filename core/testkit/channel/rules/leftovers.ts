/** What is left open once a connection has closed, whatever it was doing. */
import { realWait } from "../../host/played-clock.ts";
import { type Bench, never } from "../bench.ts";
import { untilNothingIsLeft, watchLeftovers } from "../leftovers.ts";
import type { Rule } from "../rule.ts";
import { closed } from "./life.ts";

async function isEmpty(bench: Bench, left: ReturnType<typeof watchLeftovers>, when: string): Promise<void> {
  await untilNothingIsLeft(
    bench,
    left,
    (words) => `After ${when}, ${words} remain. Close every socket, stop every timer, and remove every listener.`,
  );
}

async function leavesNothing(bench: Bench): Promise<void> {
  const left = watchLeftovers(bench);
  await bench.connection.start();
  bench.test.abort();
  await closed(bench);
  await isEmpty(bench, left, "close");
}

async function leavesNothingOfConversation(bench: Bench): Promise<void> {
  const left = watchLeftovers(bench);
  const { address } = await bench.meet("Hello");
  await bench.send("Good morning", address);
  bench.test.abort();
  await closed(bench);
  await isEmpty(bench, left, "a conversation and close");
}

async function leavesNothingInMidStart(bench: Bench): Promise<void> {
  const left = watchLeftovers(bench);
  const starting = bench.ending(bench.connection.start());
  bench.test.abort();
  await closed(bench);
  if ((await starting) === "late") throw new Error("close was called during start, but start does not end.");
  await isEmpty(bench, left, "close during start");
}

async function leavesNothingInOutage(bench: Bench): Promise<void> {
  const left = watchLeftovers(bench);
  await bench.meet("Hello");
  await bench.fail("away");
  // Long enough for a connection to notice, and to begin to reconnect.
  await realWait(150);
  bench.test.abort();
  await closed(bench);
  await isEmpty(bench, left, "close while the platform is unavailable");
}

async function leavesNothingInMidSend(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const [part] = bench.render("Never answered", address);
  await bench.fail("hang");
  if (part === undefined) throw new Error("render returns no part for a short text.");
  const sending = bench.ending(bench.connection.send(part, address, never));
  await realWait(50);
  bench.test.abort();
  await closed(bench);
  if ((await sending) === "late")
    throw new Error("close was called during a send without a response, but the send does not end.");
}

export const leftoverRules: readonly Rule[] = [
  { title: "leftovers > none after close", needs: [], alone: true, run: leavesNothing },
  { title: "leftovers > none after a conversation", needs: [], alone: true, run: leavesNothingOfConversation },
  { title: "leftovers > none after close during start", needs: [], alone: true, run: leavesNothingInMidStart },
  { title: "leftovers > none after close in an outage", needs: ["away"], alone: true, run: leavesNothingInOutage },
  { title: "leftovers > close ends a pending send", needs: ["hang"], run: leavesNothingInMidSend },
];
