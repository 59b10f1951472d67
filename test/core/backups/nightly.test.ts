/** Backups of each day: which files are removed, when one is due, and what the gateway, `status` and `doctor` say. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { expect, test } from "vitest";
import { nameFor, ownerOf, removeOld } from "../../../core/backups/nightly-files.ts";
import { lastDue, readRecord, writeRecord } from "../../../core/backups/record.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { startGateway } from "../../support/gateway.ts";
import { temporaryHome } from "../cli/command.ts";
import { run } from "../cli/command-runner.ts";

const hour = 60 * 60_000;
const day = 24 * hour;

async function archive(file: string, manifest: object): Promise<void> {
  const text = JSON.stringify({
    ...{ format: 1, product: "service-gateway", version: "0.1.0", createdAt: "2026-11-01T00:00:00.000Z" },
    ...manifest,
  });
  writeFileSync(file, gzipSync(await packTar([{ header: { name: "manifest.json", size: text.length }, body: text }])));
}

test("the oldest backups of this gateway are removed, and no other file", async () => {
  const directory = temporaryDirectory();
  const owner = ownerOf("/state");
  const names = Array.from({ length: 5 }, (_, index) => nameFor(owner, Date.UTC(2026, 10, 20 + index, 3, 30)));
  for (const name of names) await archive(join(directory, name), { owner });
  const foreign = nameFor(ownerOf("/other"), Date.UTC(2026, 0, 1));
  await archive(join(directory, foreign), { owner: ownerOf("/other") });
  // The name alone is not enough.
  const renamed = nameFor(owner, Date.UTC(2026, 0, 1));
  await archive(join(directory, renamed), {});
  const odd = nameFor(owner, Date.UTC(2026, 0, 2));
  writeFileSync(join(directory, odd), "notes of the owner");
  mkdirSync(join(directory, nameFor(owner, Date.UTC(2026, 0, 3))));
  writeFileSync(join(directory, "holiday.tar.gz"), "photos");
  const removed = await removeOld(directory, { owner, keep: 2 });
  expect(removed).toEqual(names.slice(0, 3).map((name) => join(directory, name)));
  expect(readdirSync(directory)).toHaveLength(7);
});

test("a backup is due at its time of each day", () => {
  const at = (text: string) => new Date(text).getTime();
  expect(lastDue("03:30", at("2026-11-20T03:30"))).toBe(at("2026-11-20T03:30"));
  expect(lastDue("03:30", at("2026-11-20T03:29"))).toBe(at("2026-11-19T03:30"));
  expect(lastDue("23:59", at("2026-01-01T00:00"))).toBe(at("2025-12-31T23:59"));
});

test("a gateway makes the first backup at once, in a thread, and status and doctor say so", async () => {
  const dir = join(temporaryDirectory(), "backups");
  const place = temporaryDirectory();
  const leftover = `.${nameFor(ownerOf(join(place, "state")), 0)}.4194999.new`;
  mkdirSync(join(dir, leftover), { recursive: true });
  const { gateway, configFile, directory } = await startGateway({
    directory: place,
    config: { state: { dir: "state", backup: { dir, keep: 2 } } },
  });
  await expect
    .poll(() => existsSync(dir) && readdirSync(dir).filter((name) => !name.startsWith(".")), { timeout: 20_000 })
    .toHaveLength(1);
  const log = join(gateway.stateDirectory, "logs", "gateway.log");
  await expect.poll(() => readFileSync(log, "utf8")).toContain("the nightly backup is written");
  const home = temporaryHome();
  const status = await run(["status", "--config", configFile], { home });
  await gateway.close();
  // What a killed gateway had left of another night is gone.
  expect(existsSync(join(dir, leftover))).toBe(false);
  const [name = ""] = readdirSync(dir);
  expect((await run(["restore", join(dir, name), "--to", join(directory, "restored")], { home })).code).toBe(0);
  expect(status.out).toMatch(/^backup +\S+\/backups\/gateway-\w+-\w+\.tar\.gz, (just now|.* ago)$/m);
  const doctor = await run(["doctor", "--config", configFile, "--json"], { home });
  expect(doctor.out).toContain("the last backup was made ");
});

test("a backup that fails is in the log, status and doctor, and the gateway goes on", async () => {
  const dir = join(temporaryDirectory(), "a-file");
  writeFileSync(dir, "");
  const { gateway, configFile } = await startGateway({ config: { state: { dir: "state", backup: { dir } } } });
  const log = join(gateway.stateDirectory, "logs", "gateway.log");
  await expect.poll(() => readFileSync(log, "utf8"), { timeout: 20_000 }).toContain("the nightly backup failed");
  expect(gateway.readiness().ready).toBe(true);
  await gateway.close();
  const home = temporaryHome();
  expect((await run(["status", "--config", configFile], { home })).out).toMatch(
    /^backup +the last one failed: The backup/m,
  );
  expect((await run(["doctor", "--config", configFile], { home })).out).toContain("the last backup failed: The backup");
});

test("doctor warns once two backups were missed, and if the file of the last one is gone", async () => {
  const home = temporaryHome();
  const directory = join(home, ".service");
  const file = join(home, "last.tar.gz");
  writeFileSync(file, "");
  const store = await openSqliteStore({ directory, now: Date.now });
  await store.begin(Date.now());
  const findingAt = async (record: Parameters<typeof writeRecord>[1]) => {
    await writeRecord(store, record);
    expect(await readRecord(store)).toEqual(record);
    const { out } = await run(["doctor", "--json"], { home });
    const { findings } = JSON.parse(out) as { readonly findings: readonly { readonly check: string }[] };
    return findings.find(({ check }) => check === "backup");
  };
  writeFileSync(join(directory, "config.jsonc"), JSON.stringify({ state: { backup: { dir: "/backups" } } }));
  const due = lastDue("03:30", Date.now());
  const last = (at: number) => ({ triedAt: at, last: { at, file, bytes: 1 } });
  expect(await findingAt(last(due - day + hour))).toMatchObject({ verdict: "ok" });
  expect(await findingAt(last(due - day - hour))).toMatchObject({
    verdict: "warn",
    reason: expect.stringContaining("two were missed"),
  });
  expect(await findingAt({ triedAt: due, last: { at: due, file: join(home, "gone"), bytes: 1 } })).toMatchObject({
    verdict: "warn",
    reason: expect.stringContaining("gone is gone"),
  });
  await store.close();
});
