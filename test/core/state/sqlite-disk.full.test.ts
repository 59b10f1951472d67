import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import type { NewEvent, Store } from "../../../core/state/store.ts";
import { newDirectory } from "./directory.ts";

const run = promisify(execFile);
const program = (name: string) => join(import.meta.dirname, name);

const event = (id: string, text = id): NewEvent => ({
  id,
  at: 1,
  event: { source: "hooks", kind: "wake", lane: "lane", authority: "hook", body: { text } },
});

async function open(
  options: { readonly directory?: string; readonly slowFlushMs?: number; readonly owner?: boolean } = {},
) {
  const directory = options.directory ?? (await newDirectory());
  const store = await openSqliteStore({ directory, now: () => 1, writerThread: true, ...options });
  onTestFinished(() => store.close());
  return { store, directory };
}

/** Transactions in the write-ahead log since it began anew: a frame with a database size ends one. */
function commits(directory: string): number {
  const log = readFileSync(join(directory, "state.db-wal"));
  const frameBytes = 24 + log.readUInt32BE(8);
  let count = 0;
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    const current =
      log.readUInt32BE(at + 8) === log.readUInt32BE(16) && log.readUInt32BE(at + 12) === log.readUInt32BE(20);
    if (current && log.readUInt32BE(at + 4) !== 0) count += 1;
  }
  return count;
}

describe("commits", () => {
  test("one turn of the event loop makes at most two commits: one for new events, one for the rest", async () => {
    const { store, directory } = await open();
    await store.accept(event("first"));
    const before = commits(directory);
    await Promise.all([
      ...Array.from({ length: 30 }, (_, n) => store.accept(event(`e${n}`))),
      store.set("n", "k", 1),
      store.updateSession("s", { agentId: "main", at: 1 }),
    ]);
    expect(commits(directory) - before).toBe(2);
  });

  test("an event caused by a write of the same moment shares its commit", async () => {
    const { store, directory } = await open();
    await store.accept(event("first"));
    const before = commits(directory);
    await Promise.all([store.accept({ ...event("next"), follows: true }), store.set("n", "k", 1)]);
    expect(commits(directory) - before).toBe(1);
  });

  test("writes that arrive while the writer is busy share one commit", async () => {
    const { store, directory } = await open({ slowFlushMs: 60 });
    await store.accept(event("first"));
    const before = commits(directory);
    const slow = store.accept(event("slow"));
    const late: Promise<unknown>[] = [];
    for (let n = 0; n < 20; n++) {
      await new Promise((resolve) => setImmediate(resolve));
      late.push(store.accept(event(`late${n}`)));
    }
    await Promise.all([slow, ...late]);
    expect(commits(directory) - before).toBe(2);
  });

  test("a slow disk delays the callers that wait for it, not the event loop", async () => {
    const { store } = await open({ slowFlushMs: 300 });
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 5);
    const begun = performance.now();
    await store.accept(event("a"));
    clearInterval(timer);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(295);
    // None while it is held up, and one for all of that time afterwards.
    expect(turns).toBeGreaterThan(2);
    expect((await store.event("a"))?.state).toBe("waiting");
  });

  test("a write that need not be durable does not wait for the disk", async () => {
    const { store } = await open({ slowFlushMs: 5_000 });
    const begun = performance.now();
    await store.set("n", "k", 1);
    expect(performance.now() - begun).toBeLessThan(3_000);
  });
});

test("new events are rejected when the disk falls behind, so the write queue cannot exhaust the memory", async () => {
  const { store } = await open();
  const results = await Promise.allSettled(Array.from({ length: 20_100 }, (_, n) => store.accept(event(`e${n}`))));
  const refused = results.filter((result) => result.status === "rejected");
  expect(refused).toHaveLength(100);
  expect(refused[0]).toMatchObject({ reason: { code: "state_full" } });
  expect((await store.stats()).waiting).toBe(20_000);
});

describe("processes", () => {
  test("kill -9 loses nothing that was acknowledged", async () => {
    const directory = await newDirectory();
    const child = spawn(process.execPath, [program("acceptor.ts"), directory, "p"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const acknowledged: string[] = [];
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (id) => {
      acknowledged.push(id);
      if (acknowledged.length === 400) child.kill("SIGKILL");
    });
    await once(lines, "close");
    expect(acknowledged.length).toBeGreaterThanOrEqual(400);
    const { store } = await open({ directory });
    const missing: string[] = [];
    for (const id of acknowledged) if ((await store.event(id)) === null) missing.push(id);
    expect(missing).toEqual([]);
    expect((await store.stats()).waiting).toBeGreaterThanOrEqual(acknowledged.length);
  });

  test("several processes write at once, and an idle one exits by itself without output", async () => {
    const directory = await newDirectory();
    const { store } = await open({ directory });
    const children = ["p", "q"].map((prefix) =>
      run(process.execPath, [program("acceptor.ts"), directory, prefix, "200"]),
    );
    await Promise.all(Array.from({ length: 50 }, (_, n) => store.accept(event(`own-${n}`))));
    for (const { stdout, stderr } of await Promise.all(children)) {
      expect(stdout.trim().split("\n")).toHaveLength(200);
      expect(stderr).toBe("");
    }
    expect((await store.stats()).waiting).toBe(450);
  });
});

describe("disk space", () => {
  const settled = { outcome: "silent", reason: "x" } as const;
  const fill = (store: Store, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) => store.accept({ ...event(`e${n}`, "x".repeat(2_000)), settled })),
    );
  const pruneAll = { now: 10, keepEventsMs: 1, keepEvents: 10, keepSentMs: 1 };

  test("pruning many rows shrinks the open file and leaves free space for the next rows", async () => {
    const { store, directory } = await open();
    await fill(store, 12_000);
    const size = () => statSync(join(directory, "state.db")).size;
    await store.prune({ ...pruneAll, keepEvents: 20_000, keepEventsMs: 1_000 });
    const before = size();
    expect(before).toBeGreaterThan(25_000_000);
    expect((await store.prune(pruneAll)).removed).toBe(11_999);
    // The log is folded in with the next writes; there is little left beside the room that is kept.
    for (let n = 0; n < 50 && size() > 6_000_000; n++) await store.set("n", "large", "x".repeat(2_000_000));
    expect(size()).toBeLessThan(before / 4);
    expect((await store.stats()).settled).toMatchObject({ silent: 12_000 });
  });

  test("a small database of a version without shrinking is rewritten at startup without losing data", async () => {
    const { store, directory } = await open();
    await fill(store, 300);
    await store.close();
    const file = join(directory, "state.db");
    const raw = new DatabaseSync(file);
    raw.exec("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM");
    const mode = () => Object.values(raw.prepare("PRAGMA auto_vacuum").get() ?? {})[0];
    expect(mode()).toBe(0);
    raw.close();
    const visitor = await open({ directory });
    await visitor.store.close();
    const owner = await open({ directory, owner: true });
    expect((await owner.store.stats()).settled).toMatchObject({ silent: 300 });
    await owner.store.close();
    const after = new DatabaseSync(file);
    expect(Object.values(after.prepare("PRAGMA auto_vacuum").get() ?? {})).toEqual([2]);
    after.close();
  });
});

describe("a full disk", () => {
  const ownMounts =
    spawnSync("unshare", ["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status ===
    0;

  test("rejects writes that do not fit, hides them from reads, and recovers when space is free", async () => {
    const directory = await newDirectory();
    const command = [process.execPath, program("full-disk.ts"), directory];
    const { stdout } = ownMounts
      ? await run("unshare", ["--user", "--map-root-user", "--mount", ...command, "tmpfs"])
      : await run("sh", ["-c", 'ulimit -S -f 1024; exec "$@"', "sh", ...command, "limit"]);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      codes: ["state_full", "state_full"],
      whileFull: { big: null, small: null, stats: { waiting: 1 }, trouble: expect.stringMatching(/full|disk/) },
      healed: [
        { eventId: "big", duplicate: false },
        { eventId: "small", duplicate: false },
      ],
      after: { waiting: 3 },
      trouble: null,
    });
  });
});

describe("the state directory", () => {
  test("is accessible only by its owner, even after laxer permissions", async () => {
    const directory = await newDirectory();
    mkdirSync(directory, { mode: 0o755 });
    writeFileSync(join(directory, "state.db"), "");
    chmodSync(join(directory, "state.db"), 0o644);
    const { store } = await open({ directory });
    await store.accept(event("a"));
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const name of ["state.db", "state.db-wal", "state.db-shm"])
      expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  });

  test("of a newer version is not changed", async () => {
    const { store, directory } = await open();
    await store.close();
    const db = new DatabaseSync(join(directory, "state.db"));
    db.exec("PRAGMA user_version = 99");
    db.close();
    await expect(open({ directory })).rejects.toMatchObject({ code: "state_version", details: { found: 99 } });
  });

  test("that cannot be used is named in the error", async () => {
    const directory = await newDirectory();
    writeFileSync(directory, "a file");
    await expect(open({ directory })).rejects.toMatchObject({ code: "state_unreadable", details: { directory } });
    const broken = await newDirectory();
    mkdirSync(broken);
    writeFileSync(
      join(broken, "state.db"),
      "this is no database, but it is long enough to be looked at as one".repeat(20),
    );
    await expect(open({ directory: broken })).rejects.toMatchObject({
      code: "state_foreign",
      details: { directory: broken },
    });
  });

  test("keeps its content when it is reopened, and a close merges the log into the file", async () => {
    const { store, directory } = await open();
    await store.accept(event("a"));
    await store.close();
    expect(() => statSync(join(directory, "state.db-wal"))).toThrow();
    const again = await open({ directory });
    expect(await again.store.body("a")).toEqual({ text: "a" });
  });
});
