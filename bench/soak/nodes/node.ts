/** One of several gateways on one PostgreSQL: it runs, is killed or stopped, and is started again. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type DatabaseWire, openDatabaseWire } from "../../../test/support/database-wire.ts";
import { freePort } from "../../../test/support/ports.ts";
import { createVictims, type Victim } from "../victim.ts";

export const hookToken = "soak-hook-token-123456";
export const botToken = "4242:soak-bot-token";
/** The sessions of hook runs begin with this. */
export const sessionPrefix = "soak-";

export interface SoakNode {
  readonly name: string;
  /** Where it answers HTTP. */
  readonly url: string;
  /** Where it listens for the bot's updates in webhook mode. */
  readonly webhookPort: number;
  /** The way to its database. */
  readonly wire: DatabaseWire;
  /** Whether it runs, has its modules loaded, and is not stopped. */
  isUp(): boolean;
  /** Kills it. It starts again after a while; the call resolves at once. */
  kill(downMs: number): void;
  /** Stops its process for a while. */
  pause(forMs: number): Promise<void>;
  /** What it did without being asked to, such as ending. */
  readonly problems: readonly string[];
  /** How often it could not start, because the database was away. */
  refusedStarts(): number;
  /** Ends it cleanly, and starts it again with this version of the program. Resolves when it is ready. */
  upgrade(): Promise<void>;
  /** Ends it cleanly. */
  stop(): Promise<void>;
  /** Ends it at once. */
  close(): Promise<void>;
}

export interface NodeOptions {
  readonly name: string;
  readonly directory: string;
  readonly databaseUrl: string;
  readonly apiRoot: string;
  readonly leaseSeconds: number;
  /** Where the platform posts the bot's updates; default: the bot polls. */
  readonly webhookUrl?: string;
  /** The directory of the version of the program with which it starts; default: this one. */
  readonly program?: string;
}

const thisProgram = fileURLToPath(new URL("../../..", import.meta.url));

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** What a start says that cannot reach its database. */
const databaseAway = /The store "?postgres"? .*could not be opened|store_not_opened|database/i;

function writeConfig(
  { name, directory, apiRoot, webhookUrl, program = thisProgram }: NodeOptions,
  { port, webhookPort, url }: { readonly port: number; readonly webhookPort: number; readonly url: string },
): string {
  const dir = join(directory, name);
  mkdirSync(dir, { recursive: true });
  const config = {
    gateway: { port, drainSeconds: 20, node: name },
    state: { dir, store: "postgres", url },
    session: { dmScope: "per-account-channel-peer" },
    agents: { defaults: { maxConcurrent: 16, heartbeat: { every: "0" } } },
    hooks: {
      enabled: true,
      token: hookToken,
      allowRequestSessionKey: true,
      allowedSessionKeyPrefixes: [sessionPrefix],
    },
    channels: {
      botchat: {
        ...{ botToken, apiRoot, dmPolicy: "open", allowFrom: ["*"], ackReaction: "", streamMode: "off" },
        limits: { perBotPerSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0 },
        polling: { minDelayMs: 20, timeoutSeconds: 20 },
        ...(webhookUrl !== undefined && { webhookUrl, webhookPort, webhookSecret: "soak-webhook-secret" }),
      },
    },
    plugins: {
      load: [join(program, "bench/soak-observer.ts")],
      entries: {
        echo: { options: { delayMs: 25 } },
        "soak-observer": { options: { file: join(directory, "observed") } },
      },
    },
  };
  const file = join(directory, `${name}.json`);
  writeFileSync(file, JSON.stringify(config, null, 2));
  return file;
}

export async function startNode(options: NodeOptions): Promise<SoakNode> {
  const { name } = options;
  const wire = await openDatabaseWire(options.databaseUrl);
  const [port, webhookPort] = [await freePort(), await freePort()];
  const prepare = (program: string) => {
    const configFile = writeConfig(
      { ...options, program },
      { port, webhookPort, url: `${wire.url}&lease=${options.leaseSeconds}` },
    );
    return createVictims({ outfit: () => ({ configFile, program }) });
  };
  let victims = prepare(options.program ?? thisProgram);
  const problems: string[] = [];
  let victim: Victim | undefined;
  let up = false;
  let downMs: number | undefined;
  let refused = 0;
  let ending = false;

  /** One process, from its start to its end. */
  async function run(): Promise<void> {
    try {
      victim = await victims.start();
      await victim.ready;
      up = true;
      const how = await victim.gone;
      if (downMs === undefined && !ending) problems.push(`${name} ended by itself: ${how}: ${victim.complaint()}`);
    } catch (error) {
      if (downMs !== undefined || ending) return;
      const reason = error instanceof Error ? error.message : String(error);
      if (databaseAway.test(reason)) refused += 1;
      else problems.push(`${name} did not start: ${reason}`);
    } finally {
      up = false;
    }
  }

  async function live(): Promise<void> {
    while (!ending) {
      downMs = undefined;
      await run();
      await sleep(downMs ?? 100);
    }
  }

  async function stopCleanly(): Promise<void> {
    const code = await victim?.stop(30_000);
    if (code !== 0) problems.push(`${name} was told to stop and ended with ${code}: ${victim?.complaint()}`);
  }

  const life = live();
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    webhookPort,
    wire,
    isUp: () => up,
    kill(forMs) {
      downMs = forMs;
      up = false;
      victim?.kill().catch((error: unknown) => problems.push(`${name}: ${String(error)}`));
    },
    async pause(forMs) {
      const paused = victim;
      up = false;
      await paused?.pause(forMs);
      if (paused === victim && downMs === undefined) up = true;
    },
    problems,
    refusedStarts: () => refused,
    async upgrade() {
      const before = victims;
      victims = prepare(thisProgram);
      downMs = 0;
      up = false;
      await stopCleanly();
      before.close();
      while (!up && !ending) await sleep(10);
    },
    async stop() {
      ending = true;
      await stopCleanly();
      await life;
    },
    async close() {
      ending = true;
      victims.close();
      await life;
      await wire.close();
    },
  };
}
