/** Mail comes in while the process is killed again and again: each mail runs once. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { hasDovecot, startDovecot } from "../support/mail/dovecot.ts";
import { notingEngine } from "../support/mail/noting-engine.ts";
import { configure, kill, restart, stop } from "./room.ts";

const mails = 100;

describe.skipIf(!hasDovecot)("mail that comes in while the process is killed", () => {
  test("is one event each, and none is lost", { timeout: 180_000 }, async () => {
    const server = await startDovecot();
    onTestFinished(() => server.close());
    const home = temporaryHome();
    writeFileSync(join(home, "reader.ts"), notingEngine);
    const account = {
      host: "127.0.0.1",
      port: server.port,
      tls: false,
      user: server.user,
      password: server.password(),
      pollSeconds: 5,
      maxPerHour: 1_000,
    };
    const file = configure(home, {
      gateway: { port: 0, drainSeconds: 5 },
      plugins: { load: ["./reader.ts"] },
      agents: { defaults: { engine: "reader" } },
      hooks: { enabled: true, token: "e2e-hook-token-0123456789", imap: { accounts: { ada: account } } },
    });
    let gateway = await restart({ home, file });
    await gateway.until(/the mailbox is watched/);
    const text = (at: number) =>
      `From: grace@example.org\nTo: ada@example.net\nSubject: mail-${at}\nMessage-ID: <${at}@example.org>\n\nNumber ${at}\n`;
    const delivering = (async () => {
      for (let at = 0; at < mails; at += 1) {
        await server.deliver(text(at));
        await sleep(25);
      }
    })();
    const runs = () => (existsSync(join(home, "runs")) ? readFileSync(join(home, "runs"), "utf8").trim().split("\n") : []);
    for (let round = 0; round < 4; round += 1) {
      await sleep(400 + round * 70);
      await kill(gateway);
      gateway = await restart({ home, file });
    }
    await delivering;
    const missing = () => {
      const subjects = new Set(runs().map((line) => line.split(" ")[0]));
      return Array.from({ length: mails }, (_, at) => `mail-${at}`).filter((subject) => !subjects.has(subject));
    };
    await vi
      .waitFor(() => expect(missing()).toEqual([]), { timeout: 60_000, interval: 200 })
      .catch(async (error: unknown) => {
        // Whether it was never read, or what became of its event.
        const { out } = await run(["events", "list", "--outcome", "failed", "--config", file, "--state", join(home, "state")], { home });
        throw new Error(`missing: ${missing().join(", ")}; failed events:\n${out}`, { cause: error });
      });
    await sleep(1_000);
    expect(new Set(runs()).size, "an event for each mail").toBe(mails);
    await stop(gateway);
  });
});
