/**
 * Mail comes in while the process is killed again and again: each mail is one event, which runs or is kept as failed
 * after three kills.
 */
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

describe.skipIf(!hasDovecot)("mail that arrives while the process is killed", () => {
  test("becomes exactly one event per mail", { timeout: 180_000 }, async () => {
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
      `From: grace@example.org\nTo: ada@example.net\nSubject: mail-${at}\nMessage-ID: ` +
      `<${at}@example.org>\n\nNumber ${at}\n`;
    const delivering = (async () => {
      for (let at = 0; at < mails; at += 1) {
        await server.deliver(text(at));
        await sleep(25);
      }
    })();
    const runs = () =>
      existsSync(join(home, "runs")) ? readFileSync(join(home, "runs"), "utf8").trim().split("\n") : [];
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
    /**
     * Events that three kills ended before their turn began: on a busy machine that happens to the mails that are read
     * first.
     */
    const exhausted = async (): Promise<readonly string[]> => {
      const list = [
        "events",
        "list",
        "--outcome",
        "failed",
        "--json",
        "--config",
        file,
        "--state",
        join(home, "state"),
      ];
      const { events } = JSON.parse((await run(list, { home })).out) as {
        events: { id: string; kind: string; reason: string }[];
      };
      const noted = new Set(runs().map((line) => line.split(" ")[1]));
      // The summaries that runs leave for the main session have events of their own.
      const ofMails = events.filter(({ kind, reason }) => kind === "agent" && reason === "attempts_exhausted");
      return ofMails.map(({ id }) => id).filter((id) => !noted.has(id));
    };
    const expectAll = async () => {
      const left = missing();
      if (left.length > 0) expect(await exhausted(), `without a turn: ${left.join(", ")}`).toHaveLength(left.length);
    };
    await vi.waitFor(expectAll, { timeout: 60_000, interval: 200 });
    await sleep(1_000);
    expect(new Set(runs()).size + (await exhausted()).length, "an event for each mail").toBe(mails);
    await stop(gateway);
  });
});
