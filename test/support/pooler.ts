/** PgBouncer in transaction mode, for the tests of one file. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { freePort, isOpen } from "./ports.ts";
import type { PostgresServer } from "./postgres-server.ts";

export const hasPooler = spawnSync("pgbouncer", ["--version"]).status === 0;

/**
 * Starts the pooler before the tests of a group. Call it after `usePostgres`. Returns what changes an address to that
 * of the pooler.
 */
export function usePooler(server: PostgresServer): (url: string) => string {
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

  return (url) => {
    const address = new URL(url);
    address.port = String(port);
    return address.href;
  };
}
