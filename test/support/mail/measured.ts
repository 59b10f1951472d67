/** The other side of `measured-process.ts`: starts it for a mailbox, and asks it what it measured. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { allocatorEnvironment, gatewayFlags } from "../../../core/cli/start/node-flags.ts";
import { removeDirectory, temporaryDirectory } from "../directory.ts";
import type { MailServer } from "./mail-server.ts";

/**
 * Between two questions, at first and at most: each may collect all garbage, which keeps a processor busy when it is
 * asked for more often.
 */
const between = { firstMs: 20, mostMs: 250 };

/** What Node is given to run `measured-process.ts`, from the program as the build bundles it where there is one. */
export const measuredProgram: readonly string[] =
  process.env.TEST_PROGRAM === undefined
    ? ["--conditions=service-gateway-source", fileURLToPath(new URL("measured-process.ts", import.meta.url))]
    : [join(process.env.TEST_PROGRAM, "test", "support", "mail", "measured-process.js")];

export interface Measured {
  /** Mails that the agent has read, and the subject of the last one. */
  readonly read: number;
  readonly last: string;
  /** After the last collection of garbage. */
  readonly heapMb: number;
  readonly residentMb: number;
  /** Since `begin`. */
  readonly cpuMs: number;
  /** Since the last question. */
  readonly longestBlockMs: number;
  readonly state: { readonly mail?: readonly { readonly state: string }[] };
}

export interface MeasuredGateway {
  readonly directory: string;
  /** Sets its clock ahead of the machine's. */
  ahead(ms: number): void;
  ask(line?: "begin" | "now" | "look"): Promise<Measured>;
  /** Asks until it is as wanted; resolves with the last answer, and with the worst block and the most memory of all. */
  until(wanted: (measured: Measured) => boolean, ms: number): Promise<Measured>;
  /** May be called again. */
  close(options?: { readonly keep?: boolean }): Promise<void>;
}

/** `hooks.imap` with one mailbox on a server. */
export const imapOn = (server: MailServer, account: object = {}): object => ({
  accounts: {
    ada: {
      host: "127.0.0.1",
      port: server.port,
      tls: false,
      user: server.user,
      password: server.password(),
      ...account,
    },
  },
});

interface MeasuredOptions {
  /** Of an earlier gateway, whose state goes on. */
  readonly directory?: string;
  /** How far its clock is ahead of the machine's. */
  readonly aheadMs?: number;
  /**
   * How `until` asks. `look` collects less often, but not for tests that judge how long the loop is blocked: V8 then
   * collects by itself, while the loop waits.
   */
  readonly question?: "now" | "look";
}

export async function startMeasured(
  mailboxes: { readonly imap?: object; readonly gmail?: object },
  { directory = temporaryDirectory(), aheadMs = 0, question = "now" }: MeasuredOptions = {},
): Promise<MeasuredGateway> {
  const configFile = join(directory, "config.jsonc");
  const hooks = { enabled: true, token: "hook-token-of-the-test", ...mailboxes };
  const config = { gateway: { port: 0 }, state: { dir: "state" }, agents: { defaults: { engine: "scripted" } }, hooks };
  writeFileSync(configFile, JSON.stringify(config));
  // With the flags of a gateway's process, so that the memory is that of a gateway.
  const child = spawn(
    process.execPath,
    ["--expose-gc", ...gatewayFlags, ...measuredProgram, configFile, String(aheadMs)],
    {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...allocatorEnvironment, ...process.env },
    },
  );
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  for (let line = await next(); line !== "ready"; ) line = await next();
  async function ask(line: "begin" | "now" | "look" = "now"): Promise<Measured> {
    child.stdin.write(`${line}\n`);
    return JSON.parse(await next()) as Measured;
  }
  return {
    directory,
    ahead: (ms) => void child.stdin.write(`ahead ${ms}\n`),
    ask,
    async until(wanted, ms) {
      const deadline = performance.now() + ms;
      let longestBlockMs = 0;
      let residentMb = 0;
      for (let betweenMs = between.firstMs; ; betweenMs = Math.min(between.mostMs, 2 * betweenMs)) {
        const measured = await ask(question);
        longestBlockMs = Math.max(longestBlockMs, measured.longestBlockMs);
        residentMb = Math.max(residentMb, measured.residentMb);
        if (wanted(measured)) return { ...measured, longestBlockMs, residentMb };
        if (performance.now() > deadline) throw new Error(`not within ${ms} ms: ${JSON.stringify(measured)}`);
        await sleep(betweenMs);
      }
    },
    async close({ keep = false } = {}) {
      child.stdin.end();
      await ended;
      if (!keep) removeDirectory(directory);
    },
  };
}

/** Until the mailbox is watched. */
export const isWatched = ({ state }: Measured): boolean => state.mail?.[0]?.state === "ok";
