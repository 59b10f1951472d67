import { expect, test } from "vitest";
import { createMetrics } from "../../../core/http/metrics.ts";

test("counters, gauges and histograms are rendered in the text format", () => {
  const metrics = createMetrics();
  const events = metrics.counter({ name: "events_total", help: "Accepted events.", labels: ["source"] });
  events.add({ source: "hooks" });
  events.add({ source: 'a"b\\c\nd' }, 2);
  metrics.counter({ name: "quiet_total", help: "Nothing yet." });
  metrics.gauge({ name: "waiting", help: "Waiting events.", read: () => 7 });
  const turns = metrics.histogram({ name: "turn_seconds", help: "Turns.", labels: ["agent"], buckets: [0.1, 1] });
  turns.observe(0.05, { agent: "main" });
  turns.observe(0.1, { agent: "main" });
  turns.observe(5, { agent: "main" });
  expect(metrics.render()).toBe(`# HELP events_total Accepted events.
# TYPE events_total counter
events_total{source="hooks"} 1
events_total{source="a\\"b\\\\c\\nd"} 2
# HELP quiet_total Nothing yet.
# TYPE quiet_total counter
quiet_total 0
# HELP waiting Waiting events.
# TYPE waiting gauge
waiting 7
# HELP turn_seconds Turns.
# TYPE turn_seconds histogram
turn_seconds_bucket{agent="main",le="0.1"} 2
turn_seconds_bucket{agent="main",le="1"} 2
turn_seconds_bucket{agent="main",le="+Inf"} 3
turn_seconds_sum{agent="main"} 5.15
turn_seconds_count{agent="main"} 3
`);
});

test("the number of series is limited, and the rest are counted as `other`", () => {
  const metrics = createMetrics({ maxSeries: 3 });
  const counter = metrics.counter({ name: "n_total", help: "N.", labels: ["key"] });
  for (let key = 0; key < 1_000; key++) counter.add({ key: String(key) });
  expect(metrics.render().trim().split("\n").slice(2)).toEqual([
    'n_total{key="0"} 1',
    'n_total{key="1"} 1',
    'n_total{key="2"} 1',
    'n_total{key="other"} 997',
  ]);
});

test("a name that is used twice is rejected", () => {
  const metrics = createMetrics();
  metrics.gauge({ name: "a", help: "A." }).set(1);
  expect(() => metrics.counter({ name: "a", help: "A." })).toThrow("a");
});
