import { expect, test } from "vitest";
import { createTestHost } from "../../../core/testkit/index.ts";
import schedule from "../../../plugins/schedule/index.ts";

test("first", async () => {
  await using host = await createTestHost({ plugins: [schedule], config: { schedules: { morning: { cron: "0 8 * * *", timezone: "UTC", message: "What is new?", to: "loopback:42" } } } });
  await host.advance(25 * 3_600_000);
  console.log(host.outbox(), JSON.stringify(host.ended(), null, 1));
  console.log(await (await host.fetch("/plugins/schedule/plans")).text());
  expect(host.outbox().length).toBeGreaterThan(0);
});
