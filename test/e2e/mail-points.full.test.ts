/**
 * The process is killed at each write between a mail that was fetched and the cursor behind it: each mail is one event,
 * and has one draft.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openSqliteStore } from "../../core/state/sqlite/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import type { MailCrash } from "../support/mail/crashing-mail.ts";
import { startGoogle } from "../support/mail/google.ts";
import { startImapServer } from "../support/mail/imap-server.ts";
import { measuredProgram } from "../support/mail/measured.ts";
import { letter } from "../support/mail/reader.ts";

/** How many mails wait at each kill; a long run by hand takes more. */
const mailsEach = Number(process.env.MAILS_AT_EACH_KILL ?? 4);

const pointsOf = (writes: readonly MailCrash["write"][]): readonly MailCrash[] =>
  writes.flatMap((write) => [
    { write, when: "before", nth: 2 },
    { write, when: "after", nth: 3 },
  ]);

interface Mailbox {
  readonly settings: object;
  deliver(subjects: readonly string[]): void;
  isWatched(): boolean;
  /** Subjects of the mails that the drafts answer; absent: the mailbox has no drafts. */
  drafts?(): Promise<readonly (string | undefined)[]>;
}

async function inImap(): Promise<Mailbox> {
  const server = await startImapServer();
  onTestFinished(() => server.close());
  const ada = {
    host: "127.0.0.1",
    port: server.port,
    tls: false,
    user: "ada",
    password: server.password(),
    pollSeconds: 5,
  };
  return {
    settings: { imap: { accounts: { ada: { ...ada, maxPerHour: 10_000, reply: "draft" } } } },
    deliver: (subjects) => server.deliverAll(subjects.map((subject) => letter(subject))),
    isWatched: () => server.count("IDLE") > 0,
    drafts: async () => (await server.mails("Drafts")).map((text) => /Subject: Re: (mail-\d+;)/.exec(text)?.[1]),
  };
}

async function inGmail(): Promise<Mailbox> {
  const google = await startGoogle();
  onTestFinished(() => google.close());
  google.pubsub.arrange(google.topic, google.subscription);
  Object.assign(google.mailbox.faults, { isShuffled: true, pageSize: 25 });
  google.pubsub.faults.isDoubled = true;
  return {
    settings: { gmail: { ...google.settings("pull"), maxPerHour: 10_000 } },
    deliver: (subjects) => subjects.forEach((subject, at) => void google.mailbox.deliver({ subject, late: at % 3 })),
    isWatched: () => google.callsOf(/\/watch$/) > 0 && google.callsOf(/\/history$/) > 0,
  };
}

/** A gateway that dies at a point, or lives until it is told to end. */
function startGateway(configFile: string, point?: MailCrash): ChildProcess {
  return spawn(process.execPath, [...measuredProgram, configFile], {
    stdio: ["pipe", "ignore", "inherit"],
    env: { ...process.env, ...(point && { MAIL_CRASH: JSON.stringify(point) }) },
  });
}

/** Subjects of the mails that became events, one for each event. */
async function eventsIn(directory: string): Promise<readonly (string | undefined)[]> {
  const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
  try {
    const runs = (await store.events({ limit: 10_000 })).filter(
      ({ source, kind }) => source === "hooks" && kind === "agent",
    );
    return await Promise.all(runs.map(async ({ id }) => /mail-\d+;/.exec(JSON.stringify(await store.body(id)))?.[0]));
  } finally {
    await store.close();
  }
}

describe.each([
  { name: "IMAP", open: inImap, writes: ["accept", "draft:", "mail:", "message:", "mailbox:", "drafted:"] as const },
  { name: "Gmail", open: inGmail, writes: ["accept", "mail:", "message:", "mailbox:"] as const },
])("a mailbox by $name", ({ open, writes }) => {
  test("gives each mail one event and one draft, no matter where the process is killed", {
    timeout: 600_000,
  }, async () => {
    const directory = temporaryDirectory();
    onTestFinished(() => removeDirectory(directory));
    const mailbox = await open();
    const configFile = join(directory, "config.jsonc");
    writeFileSync(
      configFile,
      JSON.stringify({
        gateway: { port: 0 },
        state: { dir: "state" },
        agents: { defaults: { engine: "scripted" } },
        hooks: { enabled: true, token: "hook-token-of-the-test", ...mailbox.settings },
      }),
    );
    // The mailbox begins with what comes later.
    const first = startGateway(configFile);
    await vi.waitFor(() => expect(mailbox.isWatched()).toBe(true), { timeout: 60_000 });
    first.kill("SIGKILL");
    const delivered: string[] = [];
    for (const point of pointsOf(writes)) {
      const subjects = Array.from({ length: mailsEach }, (_, at) => `mail-${delivered.length + at};`);
      mailbox.deliver(subjects);
      delivered.push(...subjects);
      const [, signal] = await once(startGateway(configFile, point), "exit");
      expect(signal, `${point.when} ${point.write}`).toBe("SIGKILL");
    }
    const last = startGateway(configFile);
    onTestFinished(() => void last.kill("SIGKILL"));
    await vi.waitFor(
      async () => expect(new Set(await (mailbox.drafts?.() ?? eventsIn(directory))).size).toBe(delivered.length),
      {
        timeout: 60_000,
        interval: 100,
      },
    );
    const ended = once(last, "exit");
    last.stdin?.end();
    await ended;

    const events = await eventsIn(directory);
    expect(new Set(events), "no mail is lost").toEqual(new Set(delivered));
    expect(events, "no mail is two events").toHaveLength(delivered.length);
    expect((await mailbox.drafts?.()) ?? delivered, "no draft is there twice").toHaveLength(delivered.length);
  });
});
