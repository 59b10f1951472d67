/** Mail comes into a Gmail mailbox while the process is killed again and again: each mail runs once. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { startGoogle } from "../support/mail/google.ts";
import { notingEngine } from "../support/mail/noting-engine.ts";
import { configure, kill, restart, stop } from "./room.ts";

const mails = 200;

test("each mail that arrives in a Gmail mailbox during kills becomes exactly one event", {
  timeout: 180_000,
}, async () => {
  const google = await startGoogle();
  onTestFinished(() => google.close());
  google.pubsub.arrange(google.topic, google.subscription);
  Object.assign(google.mailbox.faults, { isShuffled: true, pageSize: 25 });
  google.pubsub.faults.isDoubled = true;
  const home = temporaryHome();
  writeFileSync(join(home, "reader.ts"), notingEngine);
  const gmail = { ...google.settings("pull"), maxPerHour: 1_000 };
  const file = configure(home, {
    gateway: { port: 0, drainSeconds: 5 },
    plugins: { load: ["./reader.ts"] },
    agents: { defaults: { engine: "reader" } },
    hooks: { enabled: true, token: "e2e-hook-token-0123456789", gmail },
  });
  let gateway = await restart({ home, file });
  await gateway.until(/the mailbox is watched/);
  let delivered = 0;
  const delivering = setInterval(() => {
    if (delivered >= mails) return clearInterval(delivering);
    google.mailbox.deliver({ subject: `mail-${delivered}`, late: delivered % 3 });
    delivered += 1;
  }, 15);
  onTestFinished(() => clearInterval(delivering));
  for (let round = 0; round < 4; round += 1) {
    await sleep(300 + round * 70);
    await kill(gateway);
    gateway = await restart({ home, file });
  }
  const runs = () =>
    existsSync(join(home, "runs")) ? readFileSync(join(home, "runs"), "utf8").trim().split("\n") : [];
  const subjects = () => new Set(runs().map((line) => line.split(" ")[0]));
  await expect.poll(() => subjects().size, { timeout: 60_000, interval: 200 }).toBe(mails);
  await sleep(1_000);
  expect(new Set(runs()).size, "an event for each mail").toBe(mails);
  const shown = [
    await run(["status", "--json", "--config", file], { home }),
    await run(["logs", "--json", "--config", file], { home }),
  ];
  expect(JSON.parse(shown[0]?.out ?? "{}").mail).toMatchObject([
    { source: "gmail", state: "ok", expires: expect.any(Number) },
  ]);
  for (const secret of [...google.accounts.secrets(), "grace@example.org"])
    expect(shown.map(({ out, err }) => out + err).join("")).not.toContain(secret);
  await stop(gateway);
});
