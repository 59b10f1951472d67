/** `service schedules`, beside a running gateway and without one. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Json } from "../../../core/sdk/contract.ts";
import { createTestHost } from "../../../core/testkit/index.ts";
import schedule from "../../../plugins/schedule/index.ts";
import { temporaryHome } from "../../core/cli/command.ts";
import { run } from "../../core/cli/command-runner.ts";

function commandsOf(configFile: string) {
  const home = temporaryHome();
  const text = async (...args: readonly string[]) => await run([...args, "--config", configFile], { home, env: {} });
  return {
    text,
    json: async (...args: readonly string[]) => JSON.parse((await text(...args, "--json")).out) as unknown,
  };
}

test("commands list, explain, run and pause the running plans, and export and erase a person's reminders", async () => {
  await using host = await createTestHost({
    plugins: [schedule],
    config: {
      agents: { defaults: { timezone: "UTC" } },
      schedules: { tea: { every: "1d", kind: "say", message: "Tea!", to: "loopback:42" } },
    },
    async answer({ inbound, tools }, signal) {
      const args: Json = { text: inbound.text, cron: "0 9 * * *" };
      return JSON.stringify(await tools.find(({ name }) => name === "remind")?.run(args, signal));
    },
  });
  await host.say("Water the plants", { from: "bela" });
  const { id } = JSON.parse(host.outbox().at(-1)?.text ?? "") as { readonly id: string };
  const command = commandsOf(host.configFile);
  expect(await command.json("schedules", "list")).toMatchObject([
    { name: id, type: "reminder", times: { cron: "0 9 * * *" }, to: "loopback:bela" },
    { name: "tea", type: "schedule", state: "on", next: [{}, {}, {}] },
  ]);
  const { eventId } = (await command.json("schedules", "run", "tea")) as { readonly eventId: string };
  expect(await host.settled(eventId)).toMatchObject({ outcome: "answered" });
  expect(host.outbox().at(-1)).toMatchObject({ chat: "42", text: "Tea!" });
  await expect.poll(async () => (await command.text("schedules", "why", "tea")).out).toContain(": answered (answered)");
  expect((await command.text("schedules", "pause", id.toLowerCase())).out).toContain(`The reminder ${id} is paused.`);
  expect((await command.text("schedules", "why", id)).out).toContain("paused: ");
  expect((await command.text("status")).out).toMatch(/schedule:tea\s+ok\s+Next run: /);
  expect(await command.text("schedules", "run", "nothing")).toMatchObject({
    code: 1,
    err: expect.stringContaining("no enabled schedule or reminder nothing"),
  });
  expect((await command.text("privacy", "export", "loopback:bela")).out).toContain("Water the plants");
  await command.text("privacy", "erase", "loopback:bela");
  expect((await command.text("privacy", "export", "loopback:bela")).out).not.toContain("0 9 * * *");
});

test("without a gateway, commands show the configuration, and config validate reports its errors", async () => {
  const configFile = join(temporaryHome(), "config.jsonc");
  const write = (config: object) => writeFileSync(configFile, JSON.stringify({ state: { dir: "state" }, ...config }));
  write({ schedules: { morning: { cron: "0 8 * * *", timezone: "Asia/Tokyo", message: "News?" } } });
  const command = commandsOf(configFile);
  expect((await command.text("schedules", "list")).out).toMatch(
    /^morning .* 08:00 Asia\/Tokyo \(UTC\+9\)\nNo gateway is running/,
  );
  expect(await command.text("schedules", "run", "morning")).toMatchObject({
    code: 1,
    out: expect.stringContaining("No gateway is running"),
  });
  const edit = await command.text("config", "set", "schedules.morning.cron", "often");
  expect(edit).toMatchObject({
    code: 1,
    err: expect.stringContaining('schedules.morning.cron: is "often", which does not have five fields'),
  });
  write({
    agents: { defaults: { timezone: "Mars/Base" } },
    schedules: { morning: { at: "2020-01-01T08:00", message: "News?" } },
  });
  const { out, code } = await command.text("config", "validate");
  expect(code).toBe(1);
  expect(out).toContain('agents.defaults.timezone: is "Mars/Base", which is not a known time zone');
  expect(out).toMatch(/schedules\.morning\.at: is "2020-01-01T08:00" \(.*\), which is in the past\. It is .* now\./);
});
