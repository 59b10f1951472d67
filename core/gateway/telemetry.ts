/** The metrics that `/metrics` shows: outcomes are counted at the last station, other values are read from their source. */

import { createMetrics } from "../http/index.ts";
import type { Hooks } from "../stations/index.ts";

export interface Telemetry {
  render(): string;
}

export function createTelemetry({ hooks, running }: { readonly hooks: Hooks; readonly running: () => number }): Telemetry {
  const metrics = createMetrics();
  const events = metrics.counter({ name: "service_events_total", help: "Events that have ended.", labels: ["source", "outcome"] });
  const seconds = metrics.histogram({
    name: "service_event_seconds",
    help: "Time from acceptance to the end of an event.",
    labels: ["source"],
  });
  const tokens = metrics.counter({ name: "service_model_tokens_total", help: "Tokens that models read and wrote.", labels: ["direction"] });
  metrics.gauge({ name: "service_lanes_running", help: "Lanes that are running a unit.", read: running });
  metrics.gauge({ name: "service_resident_bytes", help: "Resident memory of the process.", read: () => process.memoryUsage.rss() });
  hooks.tap("core", "settled", (record) => {
    events.add({ source: record.source, outcome: record.outcome });
    seconds.observe(record.ms / 1_000, { source: record.source });
    if (record.usage !== undefined) {
      tokens.add({ direction: "in" }, record.usage.inputTokens);
      tokens.add({ direction: "out" }, record.usage.outputTokens);
    }
  });
  return { render: () => metrics.render() };
}
