import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createGateway, type Gateway } from "../../core/gateway/gateway.ts";
import { definePlugin, type PluginDefinition } from "../../core/sdk/contract.ts";
import { openSqliteStore } from "../../core/state/sqlite/index.ts";
import { linesMatching, read, sources, withoutComments } from "./sources.ts";

interface Running {
  readonly gateway: Gateway;
  readonly directory: string;
  wake(token: string): Promise<number>;
}

async function run(token: string, plugin: PluginDefinition): Promise<Running> {
  const directory = mkdtempSync(join(tmpdir(), "two-gateways-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(directory, { recursive: true });
  const configFile = join(directory, "config.jsonc");
  writeFileSync(configFile, JSON.stringify({ gateway: { port: 0 }, hooks: { enabled: true, token } }));
  const environment = { SERVICE_STATE_DIR: join(directory, "state") };
  const gateway = await createGateway({ configFile, environment, home: directory, plugins: [plugin] });
  onTestFinished(() => gateway.close());
  return {
    gateway,
    directory,
    async wake(by) {
      const headers = { authorization: `Bearer ${by}`, "content-type": "application/json" };
      const response = await fetch(`${gateway.url}/hooks/wake`, {
        method: "POST",
        headers,
        body: JSON.stringify({ text: "ring" }),
      });
      await response.arrayBuffer();
      return response.status;
    },
  };
}

/** Counts in its own store and remembers which events it saw; the same definition is given to both gateways. */
function counter(): {
  readonly plugin: PluginDefinition;
  readonly seen: { readonly host: object; readonly event: string }[];
} {
  const seen: { readonly host: object; readonly event: string }[] = [];
  const plugin = definePlugin({
    id: "counter",
    version: "1.0.0",
    host: "^0.2.0",
    setup(host) {
      host.tap("settled", async (record) => {
        seen.push({ host, event: record.eventId });
        await host.store.update("count", (count) => Number(count ?? 0) + 1);
      });
    },
  });
  return { plugin, seen };
}

async function countIn({ directory }: Running): Promise<unknown> {
  const store = await openSqliteStore({ directory: join(directory, "state"), now: () => Date.now() });
  try {
    return (await store.list("plugin:counter"))[0]?.value ?? (await store.list("counter"))[0]?.value ?? 0;
  } finally {
    await store.close();
  }
}

test("two gateways in one process share no tokens, hooks, state or log; one can close without the other", async () => {
  const { plugin, seen } = counter();
  const one = await run("token-of-one", plugin);
  const two = await run("token-of-two", plugin);

  expect([await one.wake("token-of-one"), await one.wake("token-of-two")]).toEqual([200, 401]);
  expect([await two.wake("token-of-two"), await two.wake("token-of-one")]).toEqual([200, 401]);
  while (new Set(seen.map(({ host }) => host)).size < 2) await wait(20);

  const of = async ({ gateway }: Running) => (await gateway.describe()).stats.settled;
  expect([await of(one), await of(two)].map(({ answered, silent, failed }) => answered + silent + failed)).toEqual([
    1, 1,
  ]);

  await one.gateway.close();
  expect(await two.wake("token-of-two")).toBe(200);
  expect(two.gateway.readiness()).toEqual({ ready: true, reasons: [], tried: true });
  while (seen.length < 3) await wait(20);
  await two.gateway.close();

  expect([await countIn(one), await countIn(two)]).toEqual([1, 2]);
  const log = (running: Running) => readFileSync(join(running.directory, "state", "logs", "gateway.log"), "utf8");
  expect(log(one)).not.toContain(two.gateway.url);
  expect(log(two)).not.toContain(one.gateway.url);
});

/** Tables that are built by a loop while their file is loaded, and only read after that. */
const tables = ["core/untrusted/lookalike.ts"];

/** The clock of test hosts replaces the timers of the process, of which there is one set. It runs in tests only. */
const timersOfTheProcess = "core/testkit/host/played-clock.ts";

/** These modules exist once in each engine of a transform, and end with it. */
const engine = /^core\/transforms\/guest\//;

test("no module keeps state at its top level", () => {
  // A table that is filled once and a pattern that is compiled once do not change; a `let`, a map that grows and a
  // counter do.
  const growing = /^(?:export )?(?:let |var |const \w+(?::[^=]+)? = new (?:Map|Set|WeakMap|WeakSet)(?:<[^>]*>+)?\(\))/;
  const found = sources("{core,plugins}/**/*.ts")
    .filter((path) => !tables.includes(path) && path !== timersOfTheProcess && !engine.test(path))
    .flatMap((path) => linesMatching(path, withoutComments(read(path)), growing));
  expect(found).toEqual([]);
});
