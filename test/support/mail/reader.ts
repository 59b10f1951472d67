/** A whole gateway in this process that watches a mailbox, and an agent that notes each mail that it reads. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test as base, expect, vi } from "vitest";
import type { PluginDefinition } from "../../../core/sdk/contract.ts";
import mail from "../../../plugins/mail/index.ts";
import { removeDirectory } from "../directory.ts";
import { createEngine, startGateway, type TestGateway } from "../gateway.ts";
import type { MailServer } from "./mail-server.ts";

export interface Read {
  readonly session: string;
  readonly text: string;
  readonly at: number;
}

export interface ReaderOptions {
  /** Settings of the account beside server and user. */
  readonly account?: object;
  /** Settings of the hook server. */
  readonly hooks?: object;
  /** Sections of the configuration beside hooks and agents. */
  readonly more?: object;
  readonly directory?: string;
  readonly plugins?: readonly PluginDefinition[];
  /** The wall clock; default the machine's. */
  readonly now?: () => number;
  /** Resolve only once the mailbox is watched; default true. */
  readonly watched?: boolean;
}

export interface Reader {
  readonly seen: readonly Read[];
  readonly subjects: () => readonly (string | undefined)[];
  start(options?: ReaderOptions): Promise<TestGateway>;
  /** The configuration as a user would edit it while the gateway runs. */
  edit(options: ReaderOptions): void;
  log(): string;
  logged(line: RegExp, ms?: number): Promise<void>;
  /** Resolves when so many mails were read. */
  arrived(count: number, ms?: number): Promise<void>;
  /** Ends the gateway and keeps its directory. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

export function letter(
  subject: string,
  { body = `Dear agent, ${subject}.`, from = "Grace Hopper <grace@example.org>", headers = "" } = {},
) {
  return (
    `From: ${from}\nTo: ada@example.net\nSubject: ${subject}\nMessage-ID: ` +
    `<${subject.replace(/\W/g, "-")}@example.org>\nDate: Mon, 23 Nov 2026 10:00:00 ` +
    `+0000\n${headers}\n${body}\n`
  );
}

interface Agent {
  /** Its reply to each mail. */
  readonly answer?: string | ((text: string) => string);
}

/** Tests that each have a server and a reader of their own, so that they can run at the same time. */
export const testWithReader = <Server extends MailServer>(start: () => Promise<Server>, agent: Agent = {}) =>
  base
    .extend("server", async ({ onTestFinished }) => {
      const server = await start();
      onTestFinished(() => server.close());
      return server;
    })
    .extend("reader", ({ server, onTestFinished }) => {
      const reader = createReader(() => server, agent);
      onTestFinished(() => reader.close());
      return reader;
    });

export function createReader(server: () => MailServer, { answer = "read" }: Agent = {}): Reader {
  const seen: Read[] = [];
  const engine = createEngine((turn) => {
    if (turn.inbound.kind !== "hook") return "HEARTBEAT_OK";
    const { text } = turn.inbound;
    seen.push({ session: turn.sessionKey, text, at: performance.now() });
    return typeof answer === "string" ? answer : answer(text);
  });
  let running: TestGateway | undefined;
  const directories = new Set<string>();
  const configOf = ({ account = {}, hooks: moreHooks = {}, more = {} }: ReaderOptions) => {
    const { port, user } = server();
    const ada = { host: "127.0.0.1", port, tls: false, user, password: server().password(), ...account };
    const hooks = { enabled: true, token: "hook-token-of-the-test", imap: { accounts: { ada } }, ...moreHooks };
    return { hooks, agents: { defaults: { engine: "scripted" } }, ...more };
  };
  const log = () => readFileSync(join(running?.gateway.stateDirectory ?? "", "logs", "gateway.log"), "utf8");
  const logged = (line: RegExp, timeout = 10_000) =>
    vi.waitFor(() => expect(log()).toMatch(line), { timeout, interval: 20 });
  async function stop(): Promise<void> {
    await running?.gateway.close();
    running = undefined;
  }
  return {
    seen,
    subjects: () => seen.map(({ text }) => /Subject: (.+)/.exec(text)?.[1]),
    async start(options = {}) {
      const { directory, plugins = [], watched = true, now } = options;
      const config = configOf(options);
      running = await startGateway({
        config,
        plugins: [mail, engine, ...plugins],
        ...(directory === undefined ? {} : { directory }),
        ...(now === undefined ? {} : { gateway: { now } }),
      });
      directories.add(running.directory);
      if (watched) await logged(/the mailbox is watched/);
      return running;
    },
    edit(options) {
      if (running === undefined) throw new Error("there is no gateway");
      writeFileSync(
        running.configFile,
        JSON.stringify({ gateway: { port: 0 }, state: { dir: "state" }, ...configOf(options) }),
      );
    },
    log,
    logged,
    arrived: (count, timeout = 10_000) =>
      vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(count), { timeout, interval: 10 }),
    stop,
    async close() {
      await stop();
      for (const directory of directories) removeDirectory(directory);
      directories.clear();
      seen.length = 0;
    },
  };
}
