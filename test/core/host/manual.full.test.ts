import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createGateway, type Gateway } from "../../../core/gateway/gateway.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";
import { freePort } from "../../support/ports.ts";
import { runTests, type TestRun } from "../../support/run-tests.ts";

const manual = new URL("../../../examples/authors/", import.meta.url);
const pages = readdirSync(manual).map((name) => readFileSync(new URL(name, manual), "utf8"));

/** The complete files that the pages show, by their path. */
const shown = pages.flatMap((page) => [...page.matchAll(/<!-- example: (\S+) -->\s+```ts\n([\s\S]*?)```/g)]);

/** Tests of examples that the pages show without one. */
const added: readonly (readonly [path: string, code: string])[] = [
  [
    "manners/index.test.ts",
    `import { createTestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import manners from "./index.js";

test("a long message is refused, and a short one is answered without an engine", async () => {
  await using host = await createTestHost({ plugins: [manners] });
  await host.say("x".repeat(5_001));
  expect(host).toHaveEnded({ outcome: "refused", reason: "too_long" });
  expect(host).toHaveDelivered("Please write less.");
  await host.say("ping");
  expect(host).toHaveDelivered("pong");
  await host.say("Hello");
  expect(host).toHaveDelivered("heard: Hello");
});
`,
  ],
  [
    "dice/index.test.ts",
    `import { createTestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import dice from "./index.js";

test("the model rolls the number of dice that it asks for", async () => {
  await using host = await createTestHost({
    plugins: [dice],
    async *answer({ tools }) {
      const tool = tools.find(({ name }) => name === "roll_dice");
      const rolled = await tool?.run({ count: 3 }, AbortSignal.timeout(5_000));
      yield { type: "text", delta: "rolled " + (Array.isArray(rolled) ? rolled.length : "nothing") };
      yield { type: "done" };
    },
  });
  await host.say("Roll three dice.");
  expect(host).toHaveDelivered("rolled 3");
});
`,
  ],
  [
    "markup/render.test.ts",
    `import { expect, test } from "vitest";
import { render } from "./render.js";

test("a reply becomes the platform's markup, and names in it notify no one", () => {
  expect(render({ text: "# Hello\\n**you**", media: [], buttons: [] })).toMatchObject([
    { kind: "text", body: { content: "**Hello**\\n\\n**you**", allowed_mentions: { parse: [] } } },
  ]);
});
`,
  ],
  [
    "names/intake.test.ts",
    `import type { ChannelAccount } from "service-gateway/sdk/channel";
import { expect, test } from "vitest";
import { createIntake, type Event, textOf } from "./intake.js";

test("an event has the names that the platform gives, and its own order", async () => {
  const seen: Event[] = [];
  const account = {
    signal: new AbortController().signal,
    now: () => 1_000_000,
    log: { debug() {}, warn() {} },
    receive: async (raw: Event) => seen.push(raw),
  } as unknown as ChannelAccount;
  const intake = createIntake(account, {
    userName: async (id) => "user " + id,
    chatTitle: async () => { throw new Error("500"); },
  });
  const event = { type: "reaction", user: "U1", chat: "C1", text: "tada" } as const;
  await Promise.all([
    intake({ ...event, id: "1" }),
    intake({ ...event, id: "2", type: "user_renamed", text: "Ada" }),
    intake({ ...event, id: "3", text: "party_parrot" }),
  ]);
  expect(seen.map((one) => [one.id, one.chatTitle, textOf(one)])).toEqual([
    ["1", undefined, "Reaction added: 🎉 by Ada"],
    ["3", undefined, "Reaction added: :party_parrot: by Ada"],
  ]);
});
`,
  ],
  [
    "linked/index.test.ts",
    `import { createServer } from "node:http";
import { once } from "node:events";
import { createTestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import linked from "./index.js";

test("the account asks for a person", async () => {
  let asked = 0;
  const server = createServer(({ url }, response) => {
    asked += url === "/link" ? 1 : 0;
    response.writeHead(url === "/link" ? 200 : 401).end(JSON.stringify({ link: "linked://1" }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const config = { channels: { linked: { url: "http://127.0.0.1:" + port } } };
  {
    await using host = await createTestHost({ plugins: [linked], config });
    await expect.poll(() => asked).toBeGreaterThan(0);
  }
  server.close();
});
`,
  ],
];
const examples = new Map([...shown.map(([, path = "", code = ""]) => [path, code] as const), ...added]);

/** The folders of examples with tests. */
const tested = ["tally", "lines", "plaza", "parrot", "manners", "dice", "markup", "names", "linked"];
const isTested = (path: string) => tested.some((folder) => path.startsWith(`${folder}/`));
/** One run has the tests of all of them, because most of the work of a run is its start. */
let runs: ReadonlyMap<string, TestRun>;

beforeAll(async () => {
  runs = await runTests(Object.fromEntries([...examples].filter(([path]) => isTested(path))), tested);
});

let directory: string;
let gateway: Gateway | undefined;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  removeDirectory(directory);
});

/** A gateway that loads one example as a stranger would: a folder beside the configuration, named in `plugins.load`. */
async function start(path: string, config: object): Promise<Gateway> {
  const file = join(directory, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, examples.get(path) ?? "");
  const configFile = join(directory, "config.jsonc");
  writeFileSync(
    configFile,
    JSON.stringify({ gateway: { port: 0 }, log: { level: "error" }, state: { dir: "state" }, ...config }),
  );
  gateway = await createGateway({ configFile, environment: {}, home: directory });
  return gateway;
}

describe("the examples of the manual for authors", () => {
  test("the plugin loads, runs at its hook points, and serves its route", async () => {
    const {
      url,
      stateDirectory,
      describe: look,
    } = await start("tally/index.ts", {
      plugins: { load: ["./tally"], entries: { tally: { options: { hidden: ["Rumpelstiltskin"] } } } },
    });
    const { plugins, taps } = await look();
    expect(plugins.find(({ id }) => id === "tally")).toEqual({
      id: "tally",
      version: "1.0.0",
      bundled: false,
      state: "up",
    });
    expect(taps.filter(({ plugin }) => plugin === "tally").map(({ hook, order }) => `${hook} ${order}`)).toEqual([
      "formatting late",
      "settled normal",
    ]);
    const token = readFileSync(join(stateDirectory, "gateway-token"), "utf8").trim();
    const answer = await fetch(`${url}/plugins/tally/counts`, { headers: { authorization: `Bearer ${token}` } });
    expect([answer.status, await answer.json()]).toEqual([200, {}]);
  });

  test("the plugin with a section has its settings, and an error in them leaves it without", async () => {
    const { describe: look } = await start("weather/index.ts", {
      plugins: { load: ["./weather"] },
      weather: { days: 12 },
    });
    const { plugins, problems } = await look();
    expect(plugins.find(({ id }) => id === "weather")).toEqual({
      id: "weather",
      version: "1.0.0",
      bundled: false,
      state: "up",
    });
    expect(problems).toMatchObject([{ severity: "error", path: "weather.days", section: "weather" }]);
  });

  test("the plugin's tests pass in a separate folder", () => {
    expect(runs.get("tally")).toEqual({ passed: 3, failures: [] });
  });

  test.each(["lines", "plaza"])("the channel %s passes the contract in a separate folder, without a skip", (name) => {
    expect(runs.get(name)).toEqual({ passed: expect.any(Number), failures: [] });
    expect(runs.get(name)?.passed).toBeGreaterThan(40);
  });

  test("the engine passes the contract in a separate folder, without a skipped test", () => {
    expect(runs.get("parrot")).toEqual({ passed: expect.any(Number), failures: [] });
    expect(runs.get("parrot")?.passed).toBeGreaterThan(10);
  });

  test("the plugin with taps refuses, answers and observes", () => {
    expect(runs.get("manners")).toEqual({ passed: 1, failures: [] });
  });

  test("the plugin with a tool is called by the model", () => {
    expect(runs.get("dice")).toEqual({ passed: 1, failures: [] });
  });

  test("the channel that is linked asks for a person", () => {
    expect(runs.get("linked")).toEqual({ passed: 1, failures: [] });
  });

  test("the look-up of names fills in an event", () => {
    expect(runs.get("names")).toEqual({ passed: 1, failures: [] });
  });

  test("no complete example is left out", () => {
    const folders = new Set(shown.map(([, path = ""]) => dirname(path)));
    expect([...folders].sort()).toEqual([...tested, "weather"].sort());
  });

  test("the channel loads and connects, and answers a line with a line", async () => {
    const port = await freePort();
    await start("lines/index.ts", {
      plugins: { load: ["./lines"], entries: { echo: { options: { delayMs: 0 } } } },
      channels: { lines: { port, dmPolicy: "open", allowFrom: ["*"] } },
    });
    const client = connect(port, "127.0.0.1");
    const answers = createInterface({ input: client })[Symbol.asyncIterator]();
    client.write("\nHello from a line.\n");
    expect((await answers.next()).value).toBe("Hello from a line.");
    client.resetAndDestroy();
    // A connection that is reset ends nothing but itself.
    const next = connect(port, "127.0.0.1");
    const more = createInterface({ input: next })[Symbol.asyncIterator]();
    next.write("Still there?\n");
    expect((await more.next()).value).toBe("Still there?");
    next.destroy();
  });
});
