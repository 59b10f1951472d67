/** Rules about opening and closing a connection. */
import { reasonOf } from "../../../contract/index.ts";
import { isThenable } from "../../../stations/index.ts";
import { realWait } from "../../host/played-clock.ts";
import type { Bench } from "../bench.ts";
import { watchLeftovers } from "../leftovers.ts";
import type { Rule } from "../rule.ts";

export async function closed(bench: Bench): Promise<void> {
  const outcome = await bench.ending(Promise.resolve().then(() => bench.connection.close()));
  if (outcome === "late") throw new Error("close does not end in time.");
  if ("error" in outcome) throw new Error(`close rejects: ${reasonOf(outcome.error)}. It must end whatever happened before.`);
}

async function opensNothingYet(bench: Bench): Promise<void> {
  if (isThenable(bench.connection)) throw new Error("open returns a promise: return the connection, and connect in start.");
  const left = watchLeftovers(bench);
  const second = bench.definition.open(bench.test.account as never);
  await realWait(20);
  const opened = left() !== "";
  await second.close();
  if (opened) throw new Error("open leaves a socket or a timer before start is called: connect in start.");
}

async function closesTwice(bench: Bench): Promise<void> {
  await closed(bench);
  await closed(bench);
}

async function connects(bench: Bench): Promise<void> {
  const { connection, test } = bench;
  const outcome = await bench.ending(connection.start());
  if (outcome === "late") throw new Error("start does not resolve in time although the platform is there.");
  if ("error" in outcome) throw new Error(`start rejects although the platform is there: ${reasonOf(outcome.error)}.`);
  await bench.until(
    () => test.statuses.at(-1)?.state === "connected",
    () => `start has resolved, and the last status is ${test.statuses.at(-1)?.state ?? "none"}: report connected.`,
  );
}

async function survivesOutage(bench: Bench): Promise<void> {
  await bench.fail("away");
  const starting = bench.ending(bench.connection.start());
  const said = () => bench.test.statuses.at(-1);
  let ended: Awaited<typeof starting> | undefined;
  void starting.then((outcome) => {
    ended = outcome;
  });
  const isReported = () => {
    const status = said();
    return status !== undefined && status.state !== "connecting" && status.state !== "connected" && status.detail !== undefined;
  };
  const isRejected = () => ended !== undefined && ended !== "late" && "error" in ended;
  await bench.until(
    () => isReported() || isRejected(),
    () =>
      `The platform is away, and the status is ${said()?.state ?? "none"}: report waiting with a reason, or let start reject, so that the operator learns it.`,
  );
  await closed(bench);
}

async function takesNothingAfterClose(bench: Bench): Promise<void> {
  await bench.meet("Hello");
  await bench.close();
  await bench.platform.write("written after the close");
  await realWait(200);
  if (bench.messages().some(({ inbound }) => inbound.text.includes("written after")))
    throw new Error("A message that was written after close was received: close ends when nothing is taken in any more.");
}

export const lifeRules: readonly Rule[] = [
  { title: "life > open opens nothing yet", run: opensNothingYet },
  { title: "life > close may be called twice, and before start", run: closesTwice },
  { title: "life > start connects and reports it", needs: [], run: connects },
  { title: "life > nothing is received after close", needs: [], run: takesNothingAfterClose },
  { title: "life > start reports a platform that is away", needs: ["away"], run: survivesOutage },
];
