/**
 * What the tests of `service webhooks gmail` share: a home with a configuration that only names a stand-in for Google.
 */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test as base, expect, vi } from "vitest";
import {
  type AtEnd,
  bundled,
  type Finished,
  inherited,
  type Started,
  start,
  temporaryHome,
} from "../../core/cli/command.ts";
import { run } from "../../core/cli/command-runner.ts";
import { type GatewayProcess, startGateway } from "../../core/cli/gateway-runner.ts";
import { startGoogle } from "../../support/mail/google.ts";

const consentPage = /http:\/\/127\.0\.0\.1:\d+\/o\/oauth2\/v2\/auth\?\S+/;

export const hasTerminals = existsSync("/usr/bin/script");

/**
 * Setups that wait for a person at the same time, each in a process; more processes take more time to start than they
 * save.
 */
const processes = 2;
/** The numbers of the rooms that are open. */
const open = new Set<number>();

function takeNumber(): number {
  let number = 0;
  while (open.has(number)) number += 1;
  open.add(number);
  return number;
}

export type SetupRoom = Awaited<ReturnType<typeof openSetupRoom>>;

/** Tests that each have a Google and a home of their own, so that they can run at the same time. */
export const test = base
  .extend("room", ({ onTestFinished }) => openSetupRoom(onTestFinished))
  .extend("roomOfSection", ({ onTestFinished }) => openSetupRoom(onTestFinished, { rootsAt: "section" }));

async function openSetupRoom(atEnd: AtEnd, { rootsAt = "account" }: { readonly rootsAt?: "account" | "section" } = {}) {
  const google = await startGoogle();
  atEnd(() => google.close());
  google.mailbox.deliver({ subject: "The quarterly figures", body: "Hello" });
  const number = takeNumber();
  atEnd(() => void open.delete(number));
  const slot = number % processes;
  const home = temporaryHome(atEnd);
  mkdirSync(join(home, ".service"));
  writeFileSync(join(home, "client.json"), google.accounts.clientFile(), { mode: 0o600 });
  const roots = { apiRoot: google.url, pubsubRoot: google.url };
  const configFile = join(home, ".service", "config.jsonc");
  const gmail = rootsAt === "section" ? roots : { accounts: { [google.address]: roots } };
  writeFileSync(configFile, `// Mine.\n${JSON.stringify({ gateway: { port: 0 }, hooks: { gmail } }, null, 2)}\n`, {
    mode: 0o600,
  });

  const args = (command: string, ...more: readonly string[]) => [
    "webhooks",
    "gmail",
    command,
    "--account",
    google.address,
    ...more,
  ];
  const room = {
    google,
    home,
    config: () => readFileSync(configFile, "utf8"),
    /** As the file has it: what is a default is not written. */
    mailbox: () => JSON.parse(room.config().replace("// Mine.", "")).hooks.gmail.accounts[google.address],
    args,
    setupArgs: (...more: readonly string[]) => args("setup", "--credentials", join(home, "client.json"), ...more),
    gmail: (command: string, ...more: readonly string[]) => run(args(command, ...more), { home, slot }),
    names: () => ["--topic", google.topic, "--subscription", google.subscription],
    service: (...command: readonly string[]) => run(command, { home, slot }),
    /** Starts a command in a process of its own. */
    start: (command: readonly string[], env: Readonly<Record<string, string>> = {}) =>
      start(command, { home, env, atEnd }),

    /** Runs the setup, and allows what it asks for in a browser of its own. */
    async consent(...more: readonly string[]): Promise<Finished> {
      let answer: Promise<string> | undefined;
      const heard = ({ out, err }: { readonly out: string; readonly err: string }) => {
        const [page] = consentPage.exec(out + err) ?? [];
        if (page !== undefined) answer ??= fetch(page).then((response) => response.text());
      };
      const finished = await run(room.setupArgs("--no-browser", ...more), { home, heard, slot });
      expect(await answer).toContain("You can close this window");
      return finished;
    },

    /** Topics and subscriptions at Google. */
    atGoogle: () =>
      JSON.stringify([
        [...google.pubsub.topics],
        [...google.pubsub.subscriptions].map(([name, { settings }]) => [name, settings]),
      ]),

    async startGateway(): Promise<Started<GatewayProcess> & { readonly url: string }> {
      const gateway = startGateway(["gateway"], { home, atEnd });
      const printed = await gateway.until(/ready at http:\/\/[^\s,]+/);
      return { ...gateway, url: /ready at (http:\/\/[^\s,/]+)/.exec(printed)?.[1] ?? "" };
    },

    /** Resolves when the gateway has run so many mails, each to its end. */
    ran: (count: number) =>
      vi.waitFor(
        async () => {
          const { deliveries } = JSON.parse((await room.service("hooks", "deliveries", "--json")).out);
          expect(
            deliveries.filter(
              ({ hook, outcome }: Record<string, unknown>) => hook === "gmail" && outcome !== undefined,
            ),
          ).toHaveLength(count);
        },
        { timeout: 60_000, interval: 200 },
      ),

    /** A directory with an `xdg-open` that only writes down what it is to open. */
    fakeBrowser(): { readonly path: string; opened(): string | undefined } {
      const path = join(home, "bin");
      const file = join(home, "opened");
      mkdirSync(path);
      writeFileSync(join(path, "xdg-open"), `#!/bin/sh\nprintf '%s' "$1" > "${file}"\n`);
      chmodSync(join(path, "xdg-open"), 0o755);
      return { path, opened: () => (existsSync(file) ? readFileSync(file, "utf8") : undefined) };
    },

    /** Starts a command at a terminal of its own. */
    atTerminal(command: readonly string[], { path }: { readonly path?: string } = {}) {
      const child = spawn("script", ["-qec", [process.execPath, bundled, ...command].join(" "), "/dev/null"], {
        env: {
          PATH: [...(path === undefined ? [] : [path]), process.env.PATH].join(":"),
          HOME: home,
          NO_COLOR: "1",
          ...inherited,
        },
      });
      let shown = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        shown += text;
      });
      const finished = new Promise<number | null>((resolve) => child.on("close", resolve));
      atEnd(async () => {
        child.kill("SIGKILL");
        await finished;
      });
      return {
        shown: () => shown,
        /** Resolves with the address of the consent page once `asked` is shown. */
        page: (asked: string) =>
          vi.waitFor(
            () => {
              expect(shown).toContain(asked);
              return consentPage.exec(shown)?.[0] ?? "";
            },
            { timeout: 60_000, interval: 20 },
          ),
        type: (line: string) => child.stdin.write(`${line}\r`),
        finished,
      };
    },
  };
  return room;
}

/** How the steps of a command with `--json` went, such as `topic: done`. */
export const outcomes = ({ out }: Finished): readonly string[] => {
  const { steps } = JSON.parse(out) as {
    readonly steps: readonly { readonly step: string; readonly outcome: string }[];
  };
  return steps.map(({ step, outcome }) => `${step}: ${outcome}`);
};

/** The outcomes of a setup that found everything as it should be are all the same. */
export const otherThan = (outcome: string, finished: Finished) =>
  outcomes(finished).filter((one) => !one.endsWith(`: ${outcome}`));
