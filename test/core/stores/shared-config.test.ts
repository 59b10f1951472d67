/** Files of two nodes and the configuration in their store. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Store } from "../../../core/state/index.ts";
import { createSharedConfig } from "../../../core/stores/index.ts";
import { postgres } from "../../../plugins/store-postgres/index.ts";
import { usePostgres } from "../../support/postgres.ts";
import { temporaryHome } from "../cli/command.ts";

const server = usePostgres();
const opened: Store[] = [];

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

interface Node {
  readonly file: string;
  readonly sync: ReturnType<typeof createSharedConfig>["sync"];
  read(): string;
  write(text: string): void;
}

async function node(url: string, name: string, text: string): Promise<Node> {
  const store = await postgres.open({ url, now: () => 0, owner: false, node: name });
  opened.push(store);
  const directory = temporaryHome();
  const stateDirectory = join(directory, "state");
  mkdirSync(stateDirectory);
  const file = join(directory, "config.jsonc");
  writeFileSync(file, text);
  const { sync } = createSharedConfig({ store, file, stateDirectory, env: {}, schemas: () => undefined });
  return { file, sync, read: () => readFileSync(file, "utf8"), write: (next) => writeFileSync(file, next) };
}

const first = `{
  // The database of this node.
  "state": {
    "dir": "one", // on the fast disk
    "config": "store",
  },
  "gateway": { "node": "one", "port": 1 },
  // All nodes.
  "log": { "level": "info" }, // usual
}
`;
const second = '{ "state": { "dir": "two", /* here */ "config": "store" }, "gateway": { "node": "two", "port": 2 } }';

test("other nodes adopt the first node's file with its comments and keep their own node settings", async () => {
  const url = server.newUrl();
  const [one, two] = [await node(url, "one", first), await node(url, "two", second)];
  expect(await one.sync()).toEqual({ what: "pushed" });
  expect(await one.sync()).toEqual({ what: "same" });
  expect(one.read()).toBe(first);
  expect(await two.sync()).toEqual({ what: "pulled" });
  expect(two.read()).toContain('"level": "info" }, // usual');
  expect(two.read()).toContain('{ "dir": "two", /* here */ "config": "store" }');
  expect(two.read()).toMatch(/"node": "two"/);
  expect(two.read()).not.toContain("on the fast disk");
  expect(await two.sync()).toEqual({ what: "same" });

  two.write(two.read().replace("info", "debug"));
  expect(await two.sync()).toEqual({ what: "pushed" });
  expect(await one.sync()).toEqual({ what: "pulled" });
  expect(one.read()).toContain('"dir": "one", // on the fast disk');
  expect(one.read()).toContain('"level": "debug" }, // usual');
  expect([await one.sync(), await two.sync()]).toEqual([{ what: "same" }, { what: "same" }]);
});

test("of two simultaneous edits, the first one stored applies everywhere, the other is saved beside it", async () => {
  const url = server.newUrl();
  const [one, two] = [await node(url, "one", first), await node(url, "two", second)];
  await one.sync();
  await two.sync();
  one.write(one.read().replace("info", "debug"));
  const edited = two.read().replace("info", "warn");
  two.write(edited);
  expect(await one.sync()).toEqual({ what: "pushed" });
  expect(await two.sync()).toEqual({ what: "pulled", copy: `${two.file}.replaced` });
  expect(two.read()).toContain("debug");
  expect(readFileSync(`${two.file}.replaced`, "utf8")).toBe(edited);
});

test("when a node joins with other settings, its file is saved beside the one that follows the store", async () => {
  const url = server.newUrl();
  const joining = second.replace("{", '{ "log": { "level": "warn" },');
  const [one, two] = [await node(url, "one", first), await node(url, "two", joining)];
  await one.sync();
  expect(await two.sync()).toEqual({ what: "pulled", copy: `${two.file}.replaced` });
  expect(readFileSync(`${two.file}.replaced`, "utf8")).toBe(joining);
  expect(two.read()).toContain('"level": "info"');
});

test("an edit with an error is not shared and leaves the shared configuration unchanged", async () => {
  const url = server.newUrl();
  const [one, two] = [await node(url, "one", first), await node(url, "two", second)];
  await one.sync();
  one.write(one.read().replace("info", "loud"));
  expect(await one.sync()).toEqual({ what: "invalid" });
  expect(await two.sync()).toMatchObject({ what: "pulled" });
  expect(two.read()).toContain('"level": "info"');
});
