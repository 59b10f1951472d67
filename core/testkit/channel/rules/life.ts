/** Rules about opening and closing a connection. */
import { findCode, reasonOf } from "../../../contract/index.ts";
import type { ChannelDefinition, ChannelStatus } from "../../../sdk/contract.ts";
import { isThenable } from "../../../stations/index.ts";
import { realWait } from "../../host/played-clock.ts";
import { type Bench, shown, started } from "../bench.ts";
import { watchLeftovers } from "../leftovers.ts";
import { losesContact } from "../outage.ts";
import type { Rule } from "../rule.ts";

export async function closed(bench: Bench): Promise<void> {
  const outcome = await bench.ending(Promise.resolve().then(() => bench.connection.close()));
  if (outcome === "late") throw new Error("close does not end in time.");
  if ("error" in outcome) throw new Error(`close rejects: ${reasonOf(outcome.error)}. It must always resolve.`);
}

async function opensNothingYet(bench: Bench): Promise<void> {
  if (isThenable(bench.connection))
    throw new Error("open returns a promise. Return the connection, and connect in start.");
  const left = watchLeftovers(bench);
  const second = bench.definition.open(bench.test.account as never);
  await realWait(20);
  const opened = left().words !== "";
  await second.close();
  if (opened) throw new Error("open creates a socket or a timer before start is called. Connect in start.");
}

async function closesTwice(bench: Bench): Promise<void> {
  await closed(bench);
  await closed(bench);
}

async function connects(bench: Bench): Promise<void> {
  const { test } = bench;
  await started(bench);
  await bench.until(
    () => test.statuses.at(-1)?.state === "connected",
    () => `start has resolved, but the last status is ${test.statuses.at(-1)?.state ?? "none"}. Report connected.`,
  );
}

async function survivesOutage(bench: Bench): Promise<void> {
  await bench.fail("away");
  const starting = bench.ending(bench.connection.start());
  const lastStatus = () => bench.test.statuses.at(-1);
  let ended: Awaited<typeof starting> | undefined;
  void starting.then((outcome) => {
    ended = outcome;
  });
  const isReported = () => {
    const status = lastStatus();
    return (
      status !== undefined &&
      status.state !== "connecting" &&
      status.state !== "connected" &&
      (status.detail ?? status.code) !== undefined
    );
  };
  const isRejected = () => ended !== undefined && ended !== "late" && "error" in ended;
  await bench.until(
    () => isReported() || isRejected(),
    () =>
      `The platform is unavailable, but the status is ${lastStatus()?.state ?? "none"}. Report waiting with a ` +
      "reason, or let start reject, so that the operator sees it.",
  );
  await closed(bench);
}

/** Whether the registry explains it: the operator reads the meaning and the hint of the code. */
function assertRegistered({ code, state }: ChannelStatus, { codes = {} }: ChannelDefinition): void {
  if (code !== undefined && findCode(code, { plugin: codes }) === undefined)
    throw new Error(
      `The status ${state} has the code ${shown(code)}, which is not registered. Declare it in codes, or ` +
        "use one of the gateway's.",
    );
}

async function namesKnownCodes(bench: Bench): Promise<void> {
  const { test, definition } = bench;
  await bench.meet("before");
  await bench.fail("away");
  await losesContact(bench);
  for (const status of test.statuses) assertRegistered(status, definition);
}

async function takesNothingAfterClose(bench: Bench): Promise<void> {
  await bench.meet("Hello");
  await bench.close();
  await bench.platform.write("written after the close");
  await realWait(200);
  if (bench.messages().some(({ inbound }) => inbound.text.includes("written after")))
    throw new Error(
      "A message that was written after close was received. Resolve close only when receiving has stopped.",
    );
}

export const lifeRules: readonly Rule[] = [
  { title: "life > open does not connect", alone: true, run: opensNothingYet },
  { title: "life > close may be called twice, and before start", run: closesTwice },
  { title: "life > start connects and reports it", needs: [], run: (bench) => bench.reach(() => connects(bench)) },
  { title: "life > nothing is received after close", needs: [], run: takesNothingAfterClose },
  { title: "life > start reports an unavailable platform", needs: ["away"], run: survivesOutage },
  { title: "life > a code that is reported is registered", needs: ["away"], alone: true, run: namesKnownCodes },
];
