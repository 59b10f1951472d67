/**
 * Metrics of the whole state and of the nodes that share it. They are read from the store for each page, and all nodes
 * show the same.
 */
import type { Gauge, Metrics } from "../../http/index.ts";
import type { NodeReport, Nodes, Store, StoreStats } from "../../state/index.ts";

/** A scraper gives up after a few seconds, and the other metrics matter most while the store is away. */
const patienceMs = 2_000;
/** Pages that are requested within this time share one reading. */
const freshMs = 1_000;

export function createStoreMetrics({
  metrics,
  store,
  now,
}: {
  readonly metrics: Metrics;
  readonly store: Pick<Store, "stats" | "nodes">;
  readonly now: () => number;
}): { read(): Promise<void> } {
  const up = metrics.gauge({ name: "service_store_up", help: "Whether the store answered for this page: 1 or 0." });
  const work = createWorkGauges(metrics, now);
  const nodes = store.nodes && createNodeGauges(metrics, store.nodes);
  let latest: { readonly at: number; readonly reading: Promise<void> } | undefined;

  async function update(): Promise<void> {
    const found = await inTime(Promise.all([store.stats(), store.nodes?.reports()]));
    up.set(found === undefined ? 0 : 1);
    work(found?.[0]);
    nodes?.(found?.[1] ?? []);
  }

  return {
    async read() {
      const at = performance.now();
      if (latest === undefined || at - latest.at > freshMs) latest = { at, reading: update() };
      await latest.reading;
    },
  };
}

/** `undefined` if the store failed or did not answer in time. */
async function inTime<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), patienceMs);
  });
  try {
    return await Promise.race([reading, late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    reading.catch(() => {});
  }
}

function createWorkGauges(metrics: Metrics, now: () => number): (stats: StoreStats | undefined) => void {
  const waiting = metrics.gauge({ name: "service_waiting_events", help: "Events that wait, in the whole state." });
  const unsent = metrics.gauge({
    name: "service_unsent_parts",
    help: "Parts of replies that are not sent yet, in the whole state.",
  });
  const oldest = metrics.gauge({
    name: "service_oldest_waiting_seconds",
    help: "How long the event that has waited longest has been due; 0 if none is.",
  });
  return (stats) => {
    // A value that is not known is left out.
    if (stats === undefined) {
      for (const gauge of [waiting, unsent, oldest]) gauge.clear();
      return;
    }
    waiting.set(stats.waiting);
    unsent.set(stats.outboxWaiting);
    oldest.set(stats.oldestDueAt === undefined ? 0 : Math.max(0, now() - stats.oldestDueAt) / 1_000);
  };
}

function createNodeGauges(metrics: Metrics, nodes: Pick<Nodes, "leaseLeft">): (reports: readonly NodeReport[]) => void {
  metrics.gauge({
    name: "service_lease_left_seconds",
    help: "How long this node surely holds its lease if it cannot renew it; 0 if it may have lost it.",
    read: () => nodes.leaseLeft() / 1_000,
  });
  const gauge = (name: string, help: string, ...more: readonly string[]): Gauge =>
    metrics.gauge({ name: `service_node_${name}`, help, labels: ["node", ...more] });
  const up = gauge("up", "Whether the lease of a node is valid: 1 or 0.");
  const age = gauge("renewal_age_seconds", "Time since a node last renewed its lease, by the clock of the database.");
  const running = gauge("running_units", "Units that a node runs.");
  const duty = gauge("duty", "1 for each duty that a node has, such as an account that it serves.", "duty");
  return (reports) => {
    for (const each of [up, age, running, duty]) each.clear();
    for (const { name, alive, silentMs, running: units, duties } of reports) {
      up.set(alive ? 1 : 0, { node: name });
      age.set(Math.max(0, silentMs) / 1_000, { node: name });
      running.set(units, { node: name });
      for (const each of duties) duty.set(1, { node: name, duty: each });
    }
  };
}
