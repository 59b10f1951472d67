/** Makes a gateway one of the nodes of its store: it hears of work and of notes, and begins again if it loses its lease. */

import { readStopNote } from "../agents/index.ts";
import type { Log } from "../log/index.ts";
import type { Store } from "../state/index.ts";
import type { Runtime } from "./runtime.ts";
import type { Undo } from "./undo.ts";

/** How often the store is asked for work of which no other node told. */
const lookEveryMs = 1_000;

/** Does nothing if the gateway has its store to itself. */
export function joinNodes({
  store: { nodes },
  runtime: { path, accounts, turns },
  log,
  undo,
}: {
  readonly store: Pick<Store, "nodes">;
  readonly runtime: Pick<Runtime, "path" | "accounts" | "turns">;
  readonly log: Pick<Log, "info" | "warn">;
  readonly undo: Undo;
}): void {
  if (nodes === undefined) return;
  nodes.watch({
    work: (lane) => path.lanes.notify(lane, 0),
    note(note) {
      const stop = readStopNote(note);
      if (stop !== undefined) turns.stopAt(stop.place, stop);
    },
    lost() {
      log.warn({ node: nodes.name }, "this node lost its lease: what it ran is interrupted, and it begins again");
      path.lost();
      accounts.restart();
    },
  });
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    // While the database is away there is nothing to find; the next look will tell.
    void path.lanes
      .rescan()
      .catch(() => {})
      .finally(() => {
        looking = false;
      });
  }, lookEveryMs);
  timer.unref();
  undo.add(() => clearInterval(timer));
  log.info({ node: nodes.name }, "this gateway is a node of a shared store");
}
