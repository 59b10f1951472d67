/** A database that takes long to answer a new connection. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import { run, temporaryHome } from "../../core/cli/command.ts";
import { openDatabaseWire } from "../../support/database-wire.ts";
import { usePostgres } from "../../support/postgres.ts";

const server = usePostgres();

test("doctor says that it is slow, and reads the state all the same", async () => {
  const url = server.newUrl();
  const store = await postgres.open({ url, now: Date.now, owner: true, node: "one" });
  await store.close();
  const wire = await openDatabaseWire(url);
  onTestFinished(() => wire.close());
  wire.slow(4_000);
  const home = temporaryHome();
  const state = join(home, "state");
  mkdirSync(state);
  const config = join(home, "config.json");
  writeFileSync(config, JSON.stringify({ state: { store: "postgres", url: wire.url, dir: state } }));
  const { out } = await run(["doctor", "--config", config, "--json"], { home });
  const { findings } = JSON.parse(out) as { readonly findings: readonly { readonly check: string }[] };
  expect(findings.filter(({ check }) => check === "store")).toEqual([
    expect.objectContaining({
      verdict: "warn",
      reason: expect.stringMatching(/^the store postgres is slow: it took [4-9]\.\d s/),
    }),
    expect.objectContaining({ verdict: "ok" }),
  ]);
  expect(
    findings.filter(
      ({ check, verdict }: { check: string; verdict?: string }) => check === "state" && verdict === "fail",
    ),
  ).toEqual([]);
});
