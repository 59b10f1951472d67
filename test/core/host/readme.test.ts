import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createGateway, type Gateway } from "../../../core/gateway/gateway.ts";
import { freePort } from "../../support/free-port.ts";
import { removeDirectory, temporaryDirectory } from "../../support/gateway.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const page = readFileSync(new URL("../../../core/host/README.md", import.meta.url), "utf8");

/** The files that the page shows whole, by their path. */
const examples = new Map(
  [...page.matchAll(/<!-- example: (\S+) -->\s+```ts\n([\s\S]*?)```/g)].map(([, path = "", code = ""]) => [path, code]),
);

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
  writeFileSync(configFile, JSON.stringify({ gateway: { port: 0 }, log: { level: "error" }, state: { dir: "state" }, ...config }));
  gateway = await createGateway({ configFile, environment: {}, home: directory });
  return gateway;
}

/** Runs the tests of an example as its author does: in a folder of its own, with nothing but the package and vitest. */
async function runTests(...paths: readonly string[]): Promise<{ readonly passed: number; readonly failures: readonly string[] }> {
  // Below the repository, so that the package and vitest are found as in an installation.
  mkdirSync(join(root, "node_modules", ".cache"), { recursive: true });
  const folder = mkdtempSync(join(root, "node_modules", ".cache", "example-"));
  onTestFinished(() => removeDirectory(folder));
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), examples.get(path) ?? "");
  }
  const alias = Object.fromEntries(
    ["sdk/channel.ts", "sdk/index.ts", "testkit/index.ts"].map((file) => [
      `service-gateway/${file.replace(/(\/index)?\.ts$/, "")}`,
      join(root, "core", file),
    ]),
  );
  writeFileSync(join(folder, "vitest.config.mjs"), `export default ${JSON.stringify({ root: folder, resolve: { alias } })};`);
  const report = join(folder, "report.json");
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", "--config", "vitest.config.mjs", "--reporter=json", `--outputFile=${report}`], {
    cwd: folder,
    stdio: "ignore",
  });
  await once(child, "exit");
  const { numPassedTests, testResults } = JSON.parse(readFileSync(report, "utf8")) as {
    readonly numPassedTests: number;
    readonly testResults: readonly {
      readonly message: string;
      readonly assertionResults: readonly { readonly failureMessages: readonly string[] }[];
    }[];
  };
  const failures = testResults.flatMap(({ message, assertionResults }) => [
    ...(message === "" ? [] : [message]),
    ...assertionResults.flatMap(({ failureMessages }) => failureMessages),
  ]);
  return { passed: numPassedTests, failures };
}

describe("the examples of core/host/README.md", () => {
  test("the plugin loads, takes part at its stations, and answers at its route", async () => {
    const {
      url,
      stateDirectory,
      describe: look,
    } = await start("tally/index.ts", {
      plugins: { load: ["./tally"], entries: { tally: { options: { hidden: ["Rumpelstiltskin"] } } } },
    });
    const { plugins, taps } = await look();
    expect(plugins.find(({ id }) => id === "tally")).toEqual({ id: "tally", version: "1.0.0", bundled: false, state: "up" });
    expect(taps.filter(({ plugin }) => plugin === "tally").map(({ hook, order }) => `${hook} ${order}`)).toEqual([
      "formatting late",
      "settled normal",
    ]);
    const token = readFileSync(join(stateDirectory, "gateway-token"), "utf8").trim();
    const answer = await fetch(`${url}/plugins/tally/counts`, { headers: { authorization: `Bearer ${token}` } });
    expect([answer.status, await answer.json()]).toEqual([200, {}]);
  });

  test("the tests of the plugin pass in a folder of their own", async () => {
    expect(await runTests("tally/index.ts", "tally/index.test.ts")).toEqual({ passed: 3, failures: [] });
  });

  test("the channel loads and connects, and a line is answered with a line", async () => {
    const port = await freePort();
    await start("lines/index.ts", {
      plugins: { load: ["./lines"], entries: { echo: { options: { delayMs: 0 } } } },
      channels: { lines: { port, dmPolicy: "open", allowFrom: ["*"] } },
    });
    const client = connect(port, "127.0.0.1");
    const answers = createInterface({ input: client })[Symbol.asyncIterator]();
    client.write("\nHello from a line.\n");
    expect((await answers.next()).value).toBe("Hello from a line.");
    client.destroy();
  });
});
