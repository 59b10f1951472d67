/**
 * The metrics that `/metrics` shows: events are counted as they pass, other values are read from their source for each
 * page.
 */

import { createMetrics } from "../../http/index.ts";
import type { Store, Unit } from "../../state/index.ts";
import type { Hooks } from "../../stations/index.ts";
import { createStoreMetrics } from "./store-metrics.ts";

export interface Telemetry {
  /** A unit begins to run. */
  begins(unit: Unit): void;
  /** Counts the events that end. */
  follow(hooks: Hooks): void;
  render(): Promise<string>;
}

/** From a wake-up within one process to a lane that waits behind a long turn. */
const waitBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600];

export function createTelemetry({
  store,
  now,
  running,
}: {
  readonly store: Pick<Store, "stats" | "nodes">;
  readonly now: () => number;
  readonly running: () => number;
}): Telemetry {
  const metrics = createMetrics();
  const events = metrics.counter({
    name: "service_events_total",
    help: "Events that have ended.",
    labels: ["source", "outcome"],
  });
  const seconds = metrics.histogram({
    name: "service_event_seconds",
    help: "Time from acceptance to the end of an event.",
    labels: ["source"],
  });
  const waits = metrics.histogram({
    name: "service_event_wait_seconds",
    help: "Time from the acceptance of a unit's last event to the beginning of its first run.",
    labels: ["source"],
    buckets: waitBuckets,
  });
  const tokens = metrics.counter({
    name: "service_model_tokens_total",
    help: "Tokens that models read and wrote.",
    labels: ["direction"],
  });
  metrics.gauge({ name: "service_lanes_running", help: "Lanes that are running a unit.", read: running });
  metrics.gauge({
    name: "service_resident_bytes",
    help: "Resident memory of the process.",
    read: () => process.memoryUsage.rss(),
  });
  const ofStore = createStoreMetrics({ metrics, store, now });
  return {
    begins({ attempts, events: taken }) {
      const last = taken.at(-1);
      if (attempts === 1 && last !== undefined)
        waits.observe(Math.max(0, now() - last.acceptedAt) / 1_000, { source: last.source });
    },
    follow(hooks) {
      hooks.tap("core", "settled", (record) => {
        events.add({ source: record.source, outcome: record.outcome });
        seconds.observe(record.ms / 1_000, { source: record.source });
        if (record.usage !== undefined) {
          tokens.add({ direction: "in" }, record.usage.inputTokens);
          tokens.add({ direction: "out" }, record.usage.outputTokens);
        }
      });
    },
    async render() {
      await ofStore.read();
      return metrics.render();
    },
  };
}
