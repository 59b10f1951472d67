/**
 * The path of an event, composed. Every kind of event (a chat message, a webhook, a heartbeat) is received, waits in
 * its lane, passes the stations in order and ends in exactly one terminal state.
 */
import { setMaxListeners } from "node:events";
import { reasonOf } from "../contract/index.ts";
import { accountDuty, createDrops, createDuties } from "../state/index.ts";
import { createUnderWay } from "../stations/index.ts";
import type { Path } from "./door.ts";
import { Trace } from "./endings/ending.ts";
import { createHandBack } from "./endings/hand-back.ts";
import { createFinish } from "./finish.ts";
import { createLanes } from "./lanes/lanes.ts";
import { createLeases } from "./lanes/leases.ts";
import { createSessionTurns } from "./lanes/session-turns.ts";
import type { PathOptions } from "./options.ts";
import { createAcknowledgements } from "./presence/acknowledging.ts";
import { createPresences } from "./presence/presences.ts";
import { createReceive } from "./receive.ts";
import { createReplyFiles } from "./reply-files.ts";
import { createRun } from "./run.ts";
import type { StepDependencies } from "./step-dependencies.ts";

export type { Path } from "./door.ts";
export { lateApology } from "./endings/undelivered.ts";
export type { AgentSide } from "./options.ts";
export { waitFor } from "./patience.ts";
export { showTyping } from "./presence/typing.ts";

export function createPath(options: PathOptions): Path {
  const { hooks, store, accounts, gate, agents, deletions, clock } = options;
  const { log, redact, onBegin } = options.reports;
  const { now, random } = clock;
  const interruption = new AbortController();
  const { signal } = interruption;
  // Every running turn and every waiting send listens to it.
  setMaxListeners(0, signal);
  const newTrace = () => new Trace(now, redact);
  const acknowledgements = createAcknowledgements({
    store,
    account: accounts.get,
    now,
    random,
    signal,
    onError: (error, unitId) => log.debug({ event: unitId, what: "reaction", error: reasonOf(error) }, "not removed"),
  });
  const sessions = createSessionTurns(signal);
  const underWay = createUnderWay();
  const duties = createDuties(store.nodes);
  const drops = createDrops({ store, now });
  const leases = createLeases({ closing: signal, store });
  const lanes = createLanes({
    store,
    now,
    maxConcurrent: agents.maxConcurrent,
    run(unit, slot) {
      onBegin?.(unit);
      const running = run(unit, slot);
      underWay.add(running);
      return running;
    },
    onError: (error, lane) => log.error({ error: reasonOf(error), lane }, "the state did not respond"),
    onLastAttempts: (lanes) =>
      log.warn(
        { lanes },
        "events that were interrupted twice run one at a time, so that one that ends the process interrupts no other",
      ),
  });
  const receive = createReceive({ store, lanes, clock, pathsOf: gate.pathsOf, newTrace });
  const dependencies: StepDependencies = {
    ...{
      hooks,
      store,
      accounts,
      gate,
      agents,
      deletions,
      clock,
      signal,
      sessions,
      newTrace,
      lanes,
      leases,
      receive,
      underWay,
      drops,
      log,
    },
    files: createReplyFiles({ store, stateDirectory: options.stateDirectory, now }),
    sendsTo: ({ channel, account }) => duties.has(accountDuty(channel, account)),
    presenceFor: createPresences({ store, acknowledgements, accounts, agents, log, now }),
  };
  const run = createRun(dependencies, {
    acknowledgements,
    finish: createFinish(dependencies, log),
    handBack: createHandBack({ store, log, now, signal }),
  });

  async function rescan(): Promise<void> {
    await drops.load();
    await lanes.rescan();
  }

  async function start(): Promise<void> {
    await drops.load();
    await acknowledgements.mendEnded();
    await lanes.start();
  }

  return {
    lanes: { ...lanes, rescan },
    start,
    receive,
    underWay,
    waitsForSession: sessions.waits,
    interrupt: () => interruption.abort(),
    lost: leases.lost,
  };
}
