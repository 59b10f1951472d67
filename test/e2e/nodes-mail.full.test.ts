/** Two gateways on one PostgreSQL with the same mailbox: one of them reads it, and each mail is one run. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { startImapServer } from "../support/mail/imap-server.ts";
import { notingEngine } from "../support/mail/noting-engine.ts";
import { usePostgres } from "../support/postgres.ts";
import { createNodeGroup, hookToken } from "./node-group.ts";

const database = usePostgres();
const leaseSeconds = 6;

test("one of two nodes reads a shared mailbox; another takes over after a kill or stop, without repeats", async () => {
  const server = await startImapServer();
  onTestFinished(() => server.close());
  const folder = temporaryHome();
  writeFileSync(join(folder, "reader.ts"), notingEngine);
  const account = {
    host: "127.0.0.1",
    port: server.port,
    tls: false,
    user: "ada",
    password: server.password(),
    maxPerHour: 1_000,
  };
  const group = await createNodeGroup(
    { ...database, newUrl: () => `${database.newUrl()}&lease=${leaseSeconds}` },
    onTestFinished,
    {
      hooks: { enabled: true, token: hookToken, imap: { accounts: { ada: account } } },
      plugins: { load: [join(folder, "reader.ts")] },
      agents: { defaults: { engine: "reader", heartbeat: { every: "0" } } },
    },
  );
  const delivered: string[] = [];
  const deliver = async (name: string) => {
    delivered.push(name);
    await server.deliver(
      `From: grace@example.org\nTo: ada@example.net\nSubject: ${name}\nMessage-ID: ` +
        `<${name}@example.org>\n\nDear agent.\n`,
    );
  };
  const file = join(folder, "runs");
  // A turn that a kill interrupts runs again, as the same event. Turns of two nodes have no order.
  const runs = () => {
    const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    const names = [...new Set(lines)].map((line) => line.split(" ")[0] ?? "");
    return names.sort((one, other) => delivered.indexOf(one) - delivered.indexOf(other));
  };
  const isWatched = /the mailbox is watched/;

  const one = await group.node("one");
  await one.process.until(isWatched);
  const two = await group.node("two");
  await two.process.until(/another gateway reads the mailbox/);
  const ready = await fetch(`${two.url()}/readyz`, {
    headers: { authorization: `Bearer ${readFileSync(join(two.home, "state", "gateway-token"), "utf8").trim()}` },
  });
  expect(JSON.stringify(await ready.json())).not.toContain("imap:ada");
  const status = await two.command("status");
  expect(status.out).toMatch(/node one +alive .*plugin:mail:imap:ada/);
  expect(status.out).toMatch(/imap:ada +standby +Another gateway on the same store reads this mailbox\./);
  await deliver("first");
  await deliver("second");
  await expect.poll(runs).toEqual(["first", "second"]);

  const running = "SELECT FROM $schema.units WHERE state = 1";
  await expect.poll(() => database.query(group.url, running)).toEqual([]);
  one.process.child.kill("SIGKILL");
  const killedAt = performance.now();
  await deliver("third");
  await two.process.until(isWatched);
  expect(performance.now() - killedAt).toBeLessThan(15_000);
  await expect.poll(runs).toEqual(["first", "second", "third"]);

  // A clean stop hands the mailbox over at once.
  const three = await group.node("three");
  await three.process.until(/another gateway reads the mailbox/);
  two.process.child.kill("SIGTERM");
  await two.process.finished;
  const stoppedAt = performance.now();
  await three.process.until(isWatched);
  expect(performance.now() - stoppedAt).toBeLessThan(5_000);
  await deliver("fourth");
  await expect.poll(runs).toEqual(["first", "second", "third", "fourth"]);

  // A node that sleeps past its duty stops reading when it wakes, so that it does not read beside the new holder.
  const four = await group.node("four");
  await four.process.until(/another gateway reads the mailbox/);
  three.process.child.kill("SIGSTOP");
  await four.process.until(isWatched);
  await deliver("fifth");
  await expect.poll(runs).toContain("fifth");
  three.process.child.kill("SIGCONT");
  await three.process.until(/(another gateway reads the mailbox.*){2}/s);
  await deliver("sixth");
  await expect.poll(runs).toContain("sixth");
  await sleep(1_000);
  expect(runs()).toEqual(["first", "second", "third", "fourth", "fifth", "sixth"]);
});
