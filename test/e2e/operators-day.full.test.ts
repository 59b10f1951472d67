/**
 * The page examples/operators-day: every command of it is run, in its order, and prints what the page says. With
 * UPDATE_EXAMPLES=1 in the environment the page is written anew from what is printed.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { programCommand } from "../../core/contract/command.ts";
import { product } from "../../core/contract/product.ts";
import { createPlatform } from "../../plugins/playground/platform/index.ts";
import { start, temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { startGateway } from "../core/cli/gateway-runner.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { freePort } from "../support/ports.ts";
import { answered, openChannel, postHook } from "./room.ts";

const page = join(import.meta.dirname, "..", "..", "examples", "operators-day", "README.md");
const token = "4242:e2e-bot-token-AbCdEf";
const hookToken = "hook-token-of-the-operators-day";
const kitchen = -1_001_000_000_001;
const workshop = -1_001_000_000_002;

const wrong = [
  `{ "gateway": { "port": 18789 "host": "127.0.0.1" } }`,
  `{ "gateway": { "prot": 18789 } }`,
  `{ "gateway": { "port": "often" } }`,
  `{ "hooks": { "enabled": true } }`,
  `{ "channels": { "botchat": { "botToken": { "env": "NO_SUCH_TOKEN" } } } }`,
];

const severalNodes = process.env.SERVICE_TEST_STORE === undefined ? "" : /^ *node of-.*\n\n?/gm;

/** What differs from run to run, in the words of the page. */
function steady(text: string, home: string): string {
  return (
    text
      .replaceAll(home, "~")
      // The page is for those who installed the program.
      .replaceAll(programCommand, product.command)
      .replace(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, "<time>")
      .replace(/\b\d\d:\d\d:\d\d(\.\d+)?\b/g, "<time>")
      .replace(/http:\/\/127\.0\.0\.1:\d+/g, "http://127.0.0.1:<port>")
      .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:<port>")
      .replace(/process \d+/g, "process <pid>")
      .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{32}\b/g, "<id>")
      .replace(/\b0[0-9a-z]{9,}\b/g, "<id>")
      .replace(/^ {2}[\w-]{43}$/gm, "  <token>")
      .replace(/\b(just now|(in )?\d+(\.\d)? (ms|s|min|h|days?)( \d+ min)?( ago)?)(?=[^\w]|$)/g, "<ago>")
      .replace(/\b[A-HJ-NP-Z2-9]{8}\b/g, "<code>")
      .replace(/\b[0-9.]+ (kB|MB|GB|B)\b/g, "<size>")
      .replace(/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) <time>/g, "<time>")
      .replace(/\bms=\d+/g, "ms=<ms>")
      // The page is for one gateway; a store that several can share names it.
      .replace(severalNodes, "")
      // A busy machine.
      .replace(/^.*the event loop was blocked.*\n/gm, "")
      .replace(/[ \t]+$/gm, "")
  );
}

/** Columns are as wide as what is in them. */
const narrow = (text: string): string => text.replace(/(\S) +/g, "$1 ").replace(/^ +/gm, "  ");

interface Step {
  readonly task: number;
  readonly command: string;
  readonly output: string;
}

const block = /```console\n\$ ([^\n]*)\n([\s\S]*?)```/g;

function readSteps(text: string): readonly Step[] {
  return text.split(/^## (?=\d)/m).flatMap((section) =>
    [...section.matchAll(block)].map(([, command = "", output = ""]) => ({
      task: Number.parseInt(section, 10),
      command,
      output,
    })),
  );
}

test("every task of an operator's day works with the commands on the page, which print the documented output", {
  timeout: 180_000,
}, async () => {
  const home = temporaryHome();
  mkdirSync(join(home, ".service"));
  const platform = await createPlatform({
    bots: [
      { token, username: "e2e_bot", name: "E2E", privacy: false },
      { token: "2222:second-bot-token", username: "second_bot", name: "Second" },
    ],
  });
  onTestFinished(() => platform.close());
  const { act } = platform;
  const [ada = 0, bela = 0] = [...platform.world.people.keys()];
  const modelPort = await freePort();
  const config = {
    gateway: { port: 0, drainSeconds: 2 },
    plugins: { entries: { echo: { options: { delayMs: 0 } } } },
    hooks: {
      enabled: true,
      token: hookToken,
      mappings: [
        { id: "build", match: { path: "build" }, messageTemplate: "Build {{number}}", deliver: false },
        {
          id: "notify",
          match: { path: "notify" },
          messageTemplate: "{{text}}",
          deliverOnly: true,
          channel: "botchat",
          to: String(ada),
        },
      ],
    },
    agents: {
      defaults: { heartbeat: { every: "12h" } },
      list: [
        { id: "main", default: true },
        { id: "writer", model: "local/large" },
      ],
    },
    bindings: [{ agentId: "writer", match: { channel: "botchat", peer: { kind: "group", id: String(workshop) } } }],
    models: { providers: { local: { api: "openai-compatible", baseUrl: `http://127.0.0.1:${modelPort}/v1` } } },
    channels: {
      botchat: openChannel(platform, {
        dmPolicy: "pairing",
        allowFrom: [String(ada)],
        groups: { [String(workshop)]: { requireMention: false } },
      }),
    },
  };
  writeFileSync(
    join(home, ".service", "config.jsonc"),
    `// Edited by its operator.\n${JSON.stringify(config, null, 2)}\n`,
    {
      mode: 0o600,
    },
  );
  wrong.forEach((text, index) => {
    writeFileSync(join(home, `wrong-${index + 1}.jsonc`), `${text}\n`);
  });
  const gateway = start(["gateway"], { home });
  const url = /ready at (http:\S+)/.exec(await gateway.until(/ready at http:\S+ /))?.[1] ?? "";
  act.say(ada, ada, "good morning");
  await answered(platform, ada, "good morning");
  const idle = async (events: number) => {
    const open = async () =>
      (
        JSON.parse((await run(["events", "list", "--json", "--limit", "100"], { home })).out).events as readonly {
          state: string;
        }[]
      ).filter(({ state }) => state === "settled").length;
    await expect.poll(open, { interval: 100 }).toBeGreaterThanOrEqual(events);
  };

  /** What happens before a task. */
  const before: Readonly<Record<number, () => Promise<unknown>>> = {
    1: async () => {
      act.say(bela, bela, "let me in");
      await idle(2);
    },
    2: async () => {
      act.say(ada, kitchen, "@e2e_bot hello", { entities: [{ type: "mention", offset: 0, length: 8 }] });
      // With the notice to the owner about the group.
      await idle(4);
    },
    3: async () => {
      act.say(ada, workshop, "draft a letter");
      await idle(5);
    },
    4: async () => {
      act.block(ada, true);
      await postHook(url, "notify", { text: "the build is red" }, hookToken);
      await idle(7);
    },
    5: async () => {
      act.block(ada, false);
      // "last" is about the refusal, so that the end of the block has to be over.
      await idle(8);
      await postHook(url, "build", { number: 7 }, "a-wrong-token");
    },
    6: async () => {
      await postHook(url, "build", { number: 7 }, hookToken);
      await idle(9);
    },
    12: async () => {
      const model = await createOpenAiServer({ port: modelPort });
      act.say(ada, ada, "good evening");
      await answered(platform, ada, "good evening");
      await idle(11);
      await model.close();
    },
    15: () => postHook(url, "wake", { text: "backup done", mode: "next-heartbeat" }, hookToken),
  };

  const text = readFileSync(page, "utf8");
  const steps = readSteps(text);
  expect(new Set(steps.map(({ task }) => task)).size).toBeGreaterThanOrEqual(20);
  const printed: string[] = [];
  let task = 0;
  for (const step of steps) {
    if (step.task !== task) await before[step.task]?.();
    task = step.task;
    printed.push(steady(await perform(step.command, home), home));
  }
  const written = [...printed];
  if (process.env.UPDATE_EXAMPLES !== undefined)
    writeFileSync(
      page,
      text.replace(block, (_, command: string) => `\`\`\`console\n$ ${command}\n${written.shift() ?? ""}\`\`\``),
    );
  else
    expect(steps.map(({ command }, index) => ({ command, output: narrow(printed[index] ?? "") }))).toEqual(
      steps.map(({ command, output }) => ({ command, output: narrow(output) })),
    );

  // The other machine: the same conversation goes on there.
  const other = temporaryHome();
  await promisify(execFile)("tar", ["-C", other, "-xf", join(home, "moved.tar")]);
  expect(existsSync(join(other, ".service", "state.db"))).toBe(true);
  const there = startGateway(["gateway"], { home: other });
  await there.until(/ready at http:\S+ /);
  act.say(ada, ada, "are you still there");
  // With the model that was chosen before the move, which is still away.
  await answered(platform, ada, "Sorry, the model does not answer at the moment.");
});

async function perform(command: string, home: string): Promise<string> {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  const [program, ...args] = words;
  if (program !== "service")
    return (
      await promisify(execFile)("sh", ["-c", command], { cwd: home, env: { PATH: process.env.PATH, HOME: home } })
    ).stdout;
  const real = await Promise.all(
    args.map(async (word) =>
      word === "CODE" ? await pendingCode(home) : word === "<port>" ? String(await freePort()) : placed(word, home),
    ),
  );
  // The page's reader is slower than an edit takes to be in force.
  const look = async () => await run(real, { home });
  if (args[0] === "channels")
    await expect.poll(async () => (await look()).out, { interval: 100 }).not.toMatch(/stopped|connecting|starting/);
  const { out, err } = await look();
  if (args[1] === "set" || args[1] === "rotate") await run(["reload"], { home });
  return out + err;
}

/** Files of the page are in the home. */
const placed = (word: string, home: string): string => (/^[\w-]+\.jsonc?$/.test(word) ? join(home, word) : word);

async function pendingCode(home: string): Promise<string> {
  const { out } = await run(["pairing", "list", "botchat", "--json"], { home });
  return /"code": "(\w+)"/.exec(out)?.[1] ?? "";
}
