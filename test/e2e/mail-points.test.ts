/** The process is killed at each write between a mail that was fetched and the cursor behind it: each mail is one event, and has one draft. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { openSqliteStore } from "../../core/state/sqlite/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/gateway.ts";
import type { MailCrash } from "../support/mail/crashing-store.ts";
import { startImapServer } from "../support/mail/imap-server.ts";
import { letter } from "../support/mail/reader.ts";

const writes = ["accept", "draft:", "mail:", "message:", "mailbox:", "drafted:"] as const;
const points: readonly MailCrash[] = writes.flatMap((write) => [
  { write, when: "before", nth: 2 },
  { write, when: "after", nth: 3 },
]);
const mailsEach = 4;

const fileOf = (path: string) => fileURLToPath(new URL(`../support/mail/${path}`, import.meta.url));

test("each mail is one event and has one draft, wherever the process is killed", { timeout: 180_000 }, async () => {
  const directory = temporaryDirectory();
  const server = await startImapServer();
  onTestFinished(async () => {
    await server.close();
    removeDirectory(directory);
  });
  const configFile = join(directory, "config.jsonc");
  const account = { host: "127.0.0.1", port: server.port, tls: false, user: "ada", password: server.password(), pollSeconds: 5 };
  const hooks = {
    enabled: true,
    token: "hook-token-of-the-test",
    imap: { accounts: { ada: { ...account, maxPerHour: 10_000, reply: "draft" } } },
  };
  writeFileSync(
    configFile,
    JSON.stringify({ gateway: { port: 0 }, state: { dir: "state" }, agents: { defaults: { engine: "scripted" } }, hooks }),
  );
  const start = (crash?: MailCrash) =>
    spawn(process.execPath, ["--conditions=source", "--import", fileOf("crash-hooks.ts"), fileOf("measured-process.ts"), configFile], {
      stdio: ["pipe", "ignore", "inherit"],
      env: { ...process.env, MAIL_CRASH: JSON.stringify(crash ?? {}) },
    });

  // The mailbox begins with what comes later.
  const first = start();
  await vi.waitFor(() => expect(server.count("IDLE")).toBeGreaterThan(0), { timeout: 20_000 });
  first.kill("SIGKILL");
  let mails = 0;
  for (const point of points) {
    server.deliverAll(Array.from({ length: mailsEach }, (_, at) => letter(`mail-${mails + at};`)));
    mails += mailsEach;
    const [, signal] = await once(start(point), "exit");
    expect(signal, `${point.when} ${point.write}`).toBe("SIGKILL");
  }
  const last = start();
  const drafts = async () => (await server.mails("Drafts")).map((text) => /Subject: Re: (mail-\d+);/.exec(text)?.[1]);
  await vi.waitFor(async () => expect(new Set(await drafts()).size).toBe(mails), { timeout: 30_000, interval: 50 });
  const ended = once(last, "exit");
  last.stdin.end();
  await ended;

  const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
  onTestFinished(() => store.close());
  const runs = (await store.events({ limit: 10_000 })).filter(({ source, kind }) => source === "hooks" && kind === "agent");
  const subjects = await Promise.all(runs.map(async ({ id }) => /mail-\d+;/.exec(JSON.stringify(await store.body(id)))?.[0]));
  expect(new Set(subjects).size, "no mail is lost").toBe(mails);
  expect(subjects, "no mail is two events").toHaveLength(mails);
  expect(await drafts(), "no draft is there twice").toHaveLength(mails);
});
