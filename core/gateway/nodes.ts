/**
 * Makes a gateway one of the nodes of its store: it hears of work and of notes, and begins again if it loses its lease.
 */

import { reasonOf } from "../contract/index.ts";
import { createSourceFaultLog, messageHandler } from "../listeners/index.ts";
import type { Log } from "../log/index.ts";
import type { NodeNote, Store } from "../state/index.ts";
import type { Runtime } from "./runtime.ts";

/** A note to look in the store for what an operator has done there. */
export const lookTopic = "look";

/** Does nothing if the gateway has its store to itself. */
export function joinNodes({
  store: { nodes },
  runtime: { path, accounts, stops, running, activation, deletions },
  log,
}: {
  readonly store: Pick<Store, "nodes">;
  readonly runtime: Pick<Runtime, "path" | "accounts" | "stops" | "running" | "activation" | "deletions">;
  readonly log: Pick<Log, "info" | "warn" | "error">;
}): void {
  if (nodes === undefined) return;
  const source = "another node of the store";
  const fault = createSourceFaultLog(log);
  const failed = (error: unknown) =>
    log.warn({ error: reasonOf(error) }, "this node could not look for the work of an operator");
  const look = ({ topic }: NodeNote) => {
    if (topic === lookTopic) path.lanes.rescan().catch(failed);
  };
  const hearing = [look, stops.hear, running.hear, activation.hear, deletions.hear];
  const hear = hearing.map((handle) => messageHandler("note", { source, check: asNote, handle, fault }));
  nodes.watch({
    work(lanes) {
      for (const lane of lanes) path.lanes.notify(lane, 0);
    },
    note(note) {
      for (const one of hear) one(note);
    },
    lost(what) {
      if (what === "lease") {
        log.warn({ node: nodes.name }, "this node lost its lease: other nodes run what it ran");
        path.lost();
      } else
        log.warn(
          { node: nodes.name },
          "this node could not renew its lease for a while: other nodes may take its duties",
        );
      accounts
        .restart()
        .catch((error: unknown) => log.error({ error: reasonOf(error) }, "the accounts could not be opened again"));
    },
  });
  log.info({ node: nodes.name }, "this gateway is a node of a shared store");
}

function asNote(value: unknown): NodeNote | undefined {
  const { topic, body } = (value ?? {}) as Partial<NodeNote>;
  return typeof topic === "string" && typeof body === "object" && body !== null ? { topic, body } : undefined;
}
