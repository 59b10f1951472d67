/** The state directory of a gateway that was killed, damaged in every way; then the real program starts on it. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { afterAll, aroundEach, describe, test } from "vitest";
import { createGateway, type Gateway, type GatewayOptions } from "../../../core/gateway/gateway.ts";
import { expect, inOwnTest, onTestFinished } from "../../support/own-test.ts";
import { start, temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";
import { startGateway } from "./gateway-runner.ts";

aroundEach(inOwnTest);

const token = "hook-token-0123456789abcdef";
const ready = /ready at (http:\/\/127\.0\.0\.1:\d+)/;
const events = 40;
let killed: Promise<string> | undefined;

afterAll(async () => rmSync((await killed) ?? "", { recursive: true, force: true }));

/** A home whose gateway took events in and was killed: the newest of them are in the log only. */
async function makeKilled(): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), "service-killed-"));
  mkdirSync(join(home, ".service"));
  const config = {
    gateway: { port: 0 },
    hooks: { enabled: true, token },
    agents: { defaults: { heartbeat: { every: "0" } } },
  };
  writeFileSync(join(home, ".service", "config.jsonc"), JSON.stringify(config));
  const gateway = start(["gateway"], { home });
  const url = ready.exec(await gateway.until(ready))?.[1] ?? "";
  for (let n = 0; n < events; n++) {
    expect((await wake(url, `event ${n}`)).status).toBe(200);
    // The oldest half lies in the database itself.
    if (n === events / 2) checkpoint(join(home, ".service", "state.db"));
  }
  // What the directory remembers of its database is a quarter of a second old at most.
  await setTimeout(500);
  gateway.child.kill("SIGKILL");
  await gateway.finished;
  return home;
}

const wake = (url: string, text: string) =>
  fetch(`${url}/hooks/wake`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ text, mode: "next-heartbeat" }),
  });

interface Copy {
  readonly home: string;
  readonly state: string;
  readonly file: (name: string) => string;
}

/** A copy of the killed gateway's home. */
async function copyOfKilled(): Promise<Copy> {
  killed ??= makeKilled();
  const home = temporaryHome();
  cpSync(await killed, home, { recursive: true });
  const state = join(home, ".service");
  return { home, state, file: (name) => join(state, name) };
}

/** A gateway in this process: where the test is about the files, and not about a process that ends. */
async function startHere({ file, state }: Copy, options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const environment = { SERVICE_STATE_DIR: state };
  const gateway = await createGateway({ configFile: file("config.jsonc"), environment, bundled: false, ...options });
  onTestFinished(() => gateway.close());
  return gateway;
}

function checkpoint(file: string): void {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

function remove({ file }: Copy, ...names: readonly string[]): void {
  for (const name of names) rmSync(file(name));
}

function makeOther({ file }: Copy): void {
  for (const part of ["", "-wal", "-shm"]) rmSync(file(`state.db${part}`), { force: true });
  const db = new DatabaseSync(file("state.db"));
  db.exec(
    "CREATE TABLE bookmarks (id INTEGER PRIMARY KEY, url TEXT); INSERT INTO bookmarks (url) VALUES ('x'); " +
      "PRAGMA user_version = 3",
  );
  db.close();
}

const damages: readonly (readonly [what: string, damage: (copy: Copy) => void, said: RegExp])[] = [
  ["emptied", ({ file }) => truncateSync(file("state.db"), 0), /state\.db is empty, but a gateway has run on it/],
  [
    "deleted, its log too",
    (copy) => remove(copy, "state.db", "state.db-wal", "state.db-shm"),
    /state\.db does not exist, but/,
  ],
  [
    "deleted, in a directory that an earlier version used",
    (copy) => remove(copy, "state.db", "state.db-wal", "state.db-shm", "state.json"),
    /state\.db does not exist, but/,
  ],
  [
    "text",
    ({ file }) => writeFileSync(file("state.db"), "no database ".repeat(500)),
    /state\.db does not belong to this program: it is not an SQLite/,
  ],
  ["another program's database", makeOther, /does not belong to this program: it is the database of another program/],
  [
    "cut",
    (copy) => {
      checkpoint(copy.file("state.db"));
      truncateSync(copy.file("state.db"), 5 * 4_096 + 100);
    },
    /is damaged: state\.db was cut to 5 of \d+ pages/,
  ],
  [
    "with its log removed",
    ({ file }) => rmSync(file("state.db-wal")),
    /is older than its last use: \d+ of \d+ commits are missing, because state\.db-wal was cut or removed/,
  ],
  [
    "with its log cut",
    ({ file }) => truncateSync(file("state.db-wal"), statSync(file("state.db-wal")).size - 3 * 4_200),
    /is older than its last use: [1-9] of \d+ commits are missing, because state\.db-wal was cut/,
  ],
  [
    "without one of its tables",
    (copy) => {
      checkpoint(copy.file("state.db"));
      const db = new DatabaseSync(copy.file("state.db"));
      db.exec("DROP TABLE outbox");
      db.close();
    },
    /is damaged: the table outbox cannot be found/,
  ],
  [
    "without all of its tables",
    (copy) => {
      makeOther(copy);
      const db = new DatabaseSync(copy.file("state.db"));
      db.exec("DROP TABLE bookmarks; PRAGMA user_version = 0");
      db.close();
    },
    /is lost: state\.db contains no tables, but/,
  ],
];

describe.concurrent("damaged state", () => {
  test.each(damages)(
    "%s: the gateway reports it and exits; --accept-new-state starts it without deleting anything",
    async (_, damage, said) => {
      const copy = await copyOfKilled();
      damage(copy);
      const before = readdirSync(copy.state).toSorted();
      const size = statSync(copy.file("state.db"), { throwIfNoEntry: false })?.size;
      const refused = await run(["gateway"], { home: copy.home });
      expect(refused.code).toBe(1);
      expect(refused.err).toMatch(said);
      expect(refused.err).toContain("To restore state.db: put a backup of it in its place");
      expect(refused.err).toContain("start once with --accept-new-state");
      // Nothing was made or changed by the attempt.
      expect(readdirSync(copy.state).filter((name) => name !== "lock.db" && !before.includes(name))).toEqual([]);
      expect(statSync(copy.file("state.db"), { throwIfNoEntry: false })?.size).toBe(size);
      const doctor = await run(["doctor"], { home: copy.home });
      expect(doctor).toMatchObject({ code: 1, out: expect.stringMatching(said) });

      const accepted = await startHere(copy, { acceptNewState: true });
      expect((await wake(accepted.url, "after")).status).toBe(200);
      await accepted.close();
      const aside = readdirSync(copy.state).filter((name) => name.endsWith(".damaged"));
      expect(aside.length).toBe(size !== undefined && size > 0 && !/older/.test(refused.err) ? 1 : 0);
      // From now on it is a state like any other.
      expect(await run(["status"], { home: copy.home })).toMatchObject({ code: 0 });
    },
    60_000,
  );

  test("can be accepted with the flag in `gateway` and in `dev`", async () => {
    const { home, file, state } = await copyOfKilled();
    truncateSync(file("state.db"), 0);
    for (const args of [["gateway"], ["dev", "--state", state, "--page-port", "0"]]) {
      expect(await run(args, { home })).toMatchObject({ code: 1, err: expect.stringContaining("state.db is empty") });
      const gateway = startGateway([...args, "--accept-new-state"], { home });
      await gateway.until(/ready at|Ctrl\+C/);
      gateway.child.kill("SIGTERM");
      expect((await gateway.finished).out).toContain("It was accepted by --accept-new-state.");
      truncateSync(file("state.db"), 0);
    }
  });

  test("is reported together with a backup beside it, and restoring the backup recovers the state", async () => {
    const copy = await copyOfKilled();
    const db = new DatabaseSync(copy.file("state.db"));
    db.exec(`VACUUM INTO '${copy.file("state.db.monday")}'`);
    db.close();
    for (const part of ["", "-wal", "-shm"]) rmSync(copy.file(`state.db${part}`), { force: true });
    const { err } = await run(["gateway"], { home: copy.home });
    expect(err).toContain(`copy ${copy.file("state.db.monday")} over it, and delete state.db-wal and state.db-shm`);
    cpSync(copy.file("state.db.monday"), copy.file("state.db"));
    await (await startHere(copy)).close();
    const status = JSON.parse((await run(["status", "--json"], { home: copy.home })).out) as {
      events: { waiting: number };
    };
    expect(status.events.waiting).toBe(events);
  });

  test("another installation's database is refused and left intact", async () => {
    const [copy, other] = [await copyOfKilled(), await copyOfKilled()];
    for (const name of ["state.db", "state.db-wal", "state.db-shm", "state.json", "gateway-token"])
      rmSync(other.file(name));
    await (await startHere(other)).close();
    for (const part of ["-wal", "-shm"]) rmSync(copy.file(`state.db${part}`));
    cpSync(other.file("state.db"), copy.file("state.db"));
    const { code, err } = await run(["gateway"], { home: copy.home });
    expect(code).toBe(1);
    expect(err).toContain("is not the database that was used here: it belongs to another installation.");
    expect(readFileSync(copy.file("state.db")).equals(readFileSync(other.file("state.db")))).toBe(true);
  });

  test("with garbage in lock.db is repaired by deleting that file, as the message says", async () => {
    const copy = await copyOfKilled();
    const { home, file } = copy;
    writeFileSync(file("lock.db"), "garbage ".repeat(200));
    const { code, err } = await run(["gateway"], { home });
    expect(code).toBe(1);
    expect(err).toMatch(
      /lock\.db cannot be used as a lock: file is not a database\.\n +Delete lock\.db and start again\. It contains no data\./,
    );
    expect((await run(["doctor"], { home })).out).toContain("lock.db cannot be used as a lock");
    rmSync(file("lock.db"));
    expect((await startHere(copy)).readiness().ready).toBe(true);
  });

  test("is not reported after a kill or for a version without state.json", async () => {
    const copy = await copyOfKilled();
    const { home, file } = copy;
    const first = start(["gateway"], { home });
    await first.until(ready);
    first.child.kill("SIGKILL");
    await first.finished;
    // A command folds the log in and removes it.
    const status = JSON.parse((await run(["status", "--json"], { home })).out) as { events: { waiting: number } };
    expect(status.events.waiting).toBe(events);
    rmSync(file("state.json"));
    await startHere(copy);
    expect(existsSync(file("state.json"))).toBe(true);
  });
});

describe.concurrent("a running gateway that loses its state", () => {
  test("exits when another gateway takes over the state", async () => {
    const { home, file } = await copyOfKilled();
    const first = startGateway(["gateway"], { home });
    await first.until(ready);
    const db = new DatabaseSync(file("state.db"));
    db.exec("UPDATE numbers SET value = value + 1 WHERE name = 'fence'");
    db.close();
    const { code, err } = await first.finished;
    expect(code).toBe(1);
    expect(err).toContain("error: This gateway no longer owns its state; another one has taken it over.");
  });

  test("exits when its lock is removed, and leaves its successor's files alone", async () => {
    const copy = await copyOfKilled();
    const { home, file } = copy;
    const first = startGateway(["gateway"], { home });
    await first.until(ready);
    rmSync(file("lock.db"));
    await startHere(copy);
    const { code, err } = await first.finished;
    expect(code).toBe(1);
    expect(err).toMatch(
      /error: (?:The gateway has lost its state directory \S+: lock\.db was removed or replaced while it ran|This gateway no longer owns)/,
    );
    expect(await run(["status"], { home })).toMatchObject({ code: 0, out: expect.stringMatching(/^gateway +ready/) });
  });

  test("exits when state.db is deleted", async () => {
    const { home, file } = await copyOfKilled();
    const gateway = startGateway(["gateway"], { home });
    await gateway.until(ready);
    rmSync(file("state.db"));
    const { code, err } = await gateway.finished;
    expect(code).toBe(1);
    expect(err).toMatch(
      /error: The gateway has lost its state directory \S+: state\.db was removed or replaced while it ran\./,
    );
  });

  test("exits when state.db is emptied", async () => {
    const { home, file } = await copyOfKilled();
    const gateway = startGateway(["gateway"], { home });
    await gateway.until(ready);
    truncateSync(file("state.db"), 0);
    const { code, err } = await gateway.finished;
    expect(code).toBe(1);
    expect(err).toMatch(/error: The gateway has lost its state directory \S+: state\.db was emptied while it ran\./);
  });

  const accepted = async (url: string, count: number) => {
    for (let n = 0; n < count; n += 1) expect((await wake(url, `later ${n}`)).status).toBe(200);
  };

  const replaceLog = (log: string, older: string) => {
    rmSync(log);
    cpSync(older, log);
  };

  for (const [name, lose] of [
    ["deleted", (log: string) => rmSync(log)],
    ["replaced by an older copy", replaceLog],
  ] as const)
    test(`ends when the log of the database is ${name}, and has saved every commit`, async () => {
      const copy = await copyOfKilled();
      const { home, file } = copy;
      const gateway = startGateway(["gateway"], { home });
      const url = ready.exec(await gateway.until(ready))?.[1] ?? "";
      await accepted(url, 3);
      cpSync(file("state.db-wal"), file("older"));
      await accepted(url, 3);
      lose(file("state.db-wal"), file("older"));
      await accepted(url, 2);
      const { code, err } = await gateway.finished;
      expect(code).toBe(1);
      expect(err).toMatch(
        /error: The gateway has lost its state directory \S+: state\.db-wal was removed or replaced while it ran\./,
      );
      await startHere(copy);
      const status = JSON.parse((await run(["status", "--json"], { home })).out) as { events: { waiting: number } };
      expect(status.events.waiting).toBe(events + 8);
    });

  test("exits when the database log is truncated, even if it grew again; the next start reports the loss", async () => {
    const { home, file } = await copyOfKilled();
    const gateway = startGateway(["gateway"], { home });
    const url = ready.exec(await gateway.until(ready))?.[1] ?? "";
    await accepted(url, 10);
    truncateSync(file("state.db-wal"), Math.floor(statSync(file("state.db-wal")).size / 2));
    await wake(url, "after");
    const { code, err } = await gateway.finished;
    expect(code).toBe(1);
    expect(err).toMatch(/error: The gateway has lost its state directory \S+: state\.db-wal was cut while it ran\./);
    const again = await run(["gateway"], { home });
    expect(again).toMatchObject({ code: 1, err: expect.stringMatching(/commits are missing/) });
  });

  test("does not start on a state whose log was emptied while nothing was written", async () => {
    const { home, file } = await copyOfKilled();
    const gateway = start(["gateway"], { home });
    const url = ready.exec(await gateway.until(ready))?.[1] ?? "";
    await accepted(url, 4);
    truncateSync(file("state.db-wal"), 0);
    await setTimeout(3_000);
    gateway.child.kill("SIGKILL");
    await gateway.finished;
    expect(await run(["gateway"], { home })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/of \d+ commits are missing/),
    });
  });

  test("detects a log truncated right after a commit and a kill, at every later start too", async () => {
    const { home, file } = await copyOfKilled();
    const gateway = start(["gateway"], { home });
    const url = ready.exec(await gateway.until(ready))?.[1] ?? "";
    await setTimeout(600);
    await accepted(url, 4);
    gateway.child.kill("SIGKILL");
    await gateway.finished;
    const page = 4_096 + 24;
    // So little that the number in state.json, which is up to a quarter of a second old, does not show it.
    truncateSync(file("state.db-wal"), statSync(file("state.db-wal")).size - page);
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(await run(["gateway"], { home })).toMatchObject({
        code: 1,
        err: expect.stringMatching(/of \d+ commits are missing/),
      });
  });
});
