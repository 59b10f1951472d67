/** What `/metrics` shows of a state, with the embedded store. */
import { expect, onTestFinished, test } from "vitest";
import { createTelemetry } from "../../../core/gateway/metrics/telemetry.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { newEvent, settle, take } from "../../../core/testkit/store/fixture.ts";
import { newDirectory } from "../state/directory.ts";

test("metrics report the waiting events, the oldest of them, and the time until a run begins", async () => {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const store = await openSqliteStore({ directory: await newDirectory(), now });
  onTestFinished(() => store.close());
  await store.begin(clock.now);
  const samples = async () => {
    const page = await createTelemetry({ store, now, running: () => 0 }).render();
    return page.split("\n").filter((line) => /^service_(store|waiting|unsent|oldest|node|lease)/.test(line));
  };
  expect(await samples()).toEqual([
    "service_store_up 1",
    "service_waiting_events 0",
    "service_unsent_parts 0",
    "service_oldest_waiting_seconds 0",
  ]);
  for (const id of ["a", "b"]) await store.accept(newEvent(id, { at: clock.now }));
  clock.now += 1_500;
  expect(await samples()).toContain("service_oldest_waiting_seconds 1.5");
  expect(await samples()).toContain("service_waiting_events 2");

  const telemetry = createTelemetry({ store, now, running: () => 0 });
  const first = await take(store, "lane", clock.now);
  telemetry.begins(first);
  telemetry.begins({ ...first, attempts: 2 });
  await settle(store, "a", clock.now);
  const wait = 'service_event_wait_seconds_bucket{source="hooks",le=';
  expect(await telemetry.render()).toContain(`${wait}"1"} 0\n${wait}"2.5"} 1\n`);
});
