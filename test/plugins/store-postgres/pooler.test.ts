/** The same contract through PgBouncer, which gives each transaction any of its few connections. Skipped where it is not installed. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeContract } from "service-gateway/testkit";
import { afterAll, beforeAll, describe, expect, vi } from "vitest";
import { freePort, isOpen } from "../../support/ports.ts";
import { usePostgres } from "../../support/postgres.ts";
import { contractOptions } from "./contract-options.ts";

const isMissing = spawnSync("pgbouncer", ["--version"]).status !== 0;

describe.skipIf(isMissing)("behind a pooler in transaction mode", () => {
  const server = usePostgres();
  let pooler: ChildProcess | undefined;
  let port = 0;

  beforeAll(async () => {
    port = await freePort();
    const file = join(mkdtempSync(join(tmpdir(), "pooler-")), "pgbouncer.ini");
    const settings = [
      "[databases]",
      `postgres = host=127.0.0.1 port=${new URL(server.newUrl()).port} user=postgres`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = any",
      "pool_mode = transaction",
      "default_pool_size = 3",
      "max_client_conn = 500",
    ];
    writeFileSync(file, `${settings.join("\n")}\n`);
    // It refuses to run as root, too.
    const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
    pooler = spawn("pgbouncer", ["-q", ...user, file], { stdio: "ignore" });
    await vi.waitFor(async () => expect(await isOpen(port)).toBe(true), { timeout: 60_000 });
  });

  afterAll(() => void pooler?.kill());

  const through = (url: string) => {
    const address = new URL(url);
    address.port = String(port);
    return address.href;
  };
  storeContract({ name: "the store in PostgreSQL", ...contractOptions(server, through) });
});
