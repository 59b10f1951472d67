/**
 * A process whose disk is full for a while: `full-disk.ts DIRECTORY (tmpfs|limit)`. Prints one JSON object.
 * `tmpfs`: DIRECTORY becomes a small disk of its own, which a file fills. `limit`: the limit of file sizes
 * that this process was started with stands for the end of the disk.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import type { NewEvent } from "../../../core/state/store.ts";

const [, , directory = "", how = ""] = process.argv;
const filler = join(directory, "filler");
mkdirSync(directory, { recursive: true });
if (how === "tmpfs") execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", directory]);

function fill(): void {
  for (const size of [65_536, 4_096]) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: "a" });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    }
  }
}

function makeRoom(): void {
  if (how === "tmpfs") rmSync(filler);
  else execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=unlimited"]);
}

const event = (id: string, length: number): NewEvent => ({
  id,
  at: 1,
  event: { source: "hooks", kind: "wake", lane: "lane", authority: "hook", dedupeKey: id, body: "x".repeat(length) },
});

const store = await openSqliteStore({ directory, now: () => 1 });
await store.accept(event("before", 10));
if (how === "tmpfs") fill();
const refused = await Promise.allSettled([store.accept(event("big", 900_000)), store.accept(event("small", 10))]);
const whileFull = {
  big: await store.event("big"),
  small: await store.event("small"),
  stats: await store.stats(),
  trouble: store.trouble(),
};
makeRoom();
const healed = [await store.accept(event("big", 900_000)), await store.accept(event("small", 10))];
const after = await store.stats();
const trouble = store.trouble() ?? null;
await store.close();
process.stdout.write(
  JSON.stringify({
    codes: refused.map((result) => (result.status === "rejected" ? result.reason.code : result.status)),
    whileFull,
    healed,
    after,
    trouble,
  }),
);
