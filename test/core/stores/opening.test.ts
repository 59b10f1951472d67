/** How a store's plugin is found and loaded, and what is said when that fails. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { HostError } from "../../../core/contract/errors.ts";
import { storeOf } from "../../../core/host/find-store.ts";
import { definePlugin } from "../../../core/sdk/contract.ts";
import { defineStore, type StoreOpening } from "../../../core/sdk/store.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { startGateway } from "../../support/gateway.ts";

const url = "files://ada:letmein@here/data";
const declared = (id: string, store: string) =>
  `export default definePlugin({ id: "${id}", version: "1.0.0", host: "^0.2.0", setup() {}, ${store} });`;

/** Starts a gateway on the store `files`, beside plugins with the given modules. */
async function startWith(
  modules: Readonly<Record<string, string>>,
  config: { readonly state?: object; readonly plugins?: object } = {},
) {
  const directory = temporaryDirectory();
  for (const [name, body] of Object.entries(modules)) {
    mkdirSync(join(directory, name));
    const imports =
      `import { definePlugin } from "service-gateway/sdk"; import { storeError } from ` +
      `"service-gateway/sdk/store";`;
    writeFileSync(join(directory, name, "index.ts"), `${imports}\n${body}`);
  }
  const load = Object.keys(modules).map((name) => `./${name}`);
  const started = await startGateway({
    directory,
    config: { state: { dir: "state", store: "files", url, ...config.state }, plugins: { load, ...config.plugins } },
  });
  onTestFinished(() => started.gateway.close());
  return started;
}

const failing = async (...args: Parameters<typeof startWith>): Promise<HostError> => {
  const thrown = await startWith(...args).then(
    () => undefined,
    (error: unknown) => error,
  );
  return thrown as HostError;
};

test.each([
  ["./store-files", "files"],
  ["./plugins/store-files/", "files"],
  ["~/store-files/index.ts", "files"],
  ["./store-files/src/index.mts", "files"],
  ["./store-files.js", "files"],
  ["@acme/store-files", "files"],
  ["acme-store-files", "files"],
  ["./files", undefined],
  ["./restore-files", undefined],
  ["./store-files/other", undefined],
])("the plugin %s provides the store %s", (name, id) => {
  expect(storeOf(name)).toBe(id);
});

describe("the gateway does not start", () => {
  test.each([
    [
      "without the address",
      { url: undefined },
      "config_invalid",
      /^state.url: is missing, and the store files needs it\.$/,
    ],
    ["with an invalid name of a store", { store: "no store" }, "config_invalid", /^state.store: /],
    [
      "with an address for SQLite",
      { store: "sqlite" },
      "config_invalid",
      /^state.url: is set, but state.store is sqlite/,
    ],
    [
      "with a secret that cannot be read",
      { url: { env: "NOT_SET" } },
      "secret_unavailable",
      /^state.url: .* NOT_SET is not set\.$/,
    ],
    [
      "with a store that nothing provides",
      { store: "fils" },
      "store_unknown",
      /^state.store: there is no store fils\.$/,
    ],
    ["with one that resembles none", { store: "redis" }, "store_unknown", /^state.store: there is no store redis\.$/],
  ])("%s", async (_name, state, code, message) => {
    const error = await failing({ "store-files": declared("store-files", "") }, { state });
    expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
    if (code === "store_unknown")
      expect(error.hint).toMatch(
        "store" in state && state.store === "fils"
          ? /^Did you mean files\? Known stores: sqlite, /
          : /^Known stores: sqlite, /,
      );
  });

  const openFails = (statement: string) =>
    declared("store-files", `store: { id: "files", description: "Files", async open() { ${statement} } }`);

  test.each([
    [
      "that was written for another host",
      openFails("").replace("^0.2.0", "^9.0.0"),
      "plugin_range",
      /was written for SDK \^9\.0\.0/,
    ],
    [
      "that provides none",
      declared("store-files", ""),
      "plugin_invalid",
      /it declares no store, but its name promises the store files/,
    ],
    [
      "that provides another",
      declared("x", 'store: { id: "b", description: "B", open() {} }'),
      "plugin_invalid",
      /its store is b, but/,
    ],
    [
      "that cannot be opened",
      declared("x", 'store: { id: "files", description: "B" }'),
      "plugin_invalid",
      /its store files has no open/,
    ],
    ["whose code fails", "throw new Error('no driver');", "plugin_load_failed", /no driver/],
    [
      "that fails with an error of its own",
      openFails("throw new Error('letmein was refused');"),
      "store_not_opened",
      /^The store files cannot be opened at files:\/\/here\/data \(state.url\): \[secret\] was refused\.$/,
    ],
    [
      "that fails with an error of the gateway's",
      openFails("throw storeError('database_too_old', { version: '9', needed: '14' });"),
      "store_not_opened",
      /\(state.url\): the database server has version 9: this program needs 14 or later\.$/,
    ],
  ])("with a plugin %s", async (_name, module, code, message) => {
    const error = await failing({ "store-files": module });
    expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
    if (message.source.includes("version 9")) expect(error.hint).toBe("Update the server, or use another one.");
  });
});

/** A store as an embedder hands it in; `opened` is what it was asked to open. */
function handedIn(directory: string, opened: StoreOpening[] = []) {
  return definePlugin({
    id: "store-files",
    version: "1.0.0",
    host: "^0.2.0",
    store: defineStore({
      id: "files",
      description: "Files",
      async open(opening) {
        opened.push(opening);
        return await openSqliteStore({ directory, now: opening.now, owner: opening.owner });
      },
    }),
    setup() {},
  });
}

describe("a store", () => {
  test("can come from the embedding program and receives the directory, the clock and the node name", async () => {
    const opened: StoreOpening[] = [];
    const data = temporaryDirectory();
    const now = () => 1_800_000_000_000;
    const { gateway } = await startGateway({
      config: { gateway: { port: 0, node: "one" }, state: { dir: "state", store: "files", url } },
      plugins: [handedIn(data, opened)],
      gateway: { now },
    });
    await gateway.close();
    expect(opened).toEqual([{ url, now, owner: true, node: "one" }]);
  });

  test("is loaded before all other plugins, and none of their code runs if it fails", async () => {
    const globals = globalThis as { ranBefore?: string[] };
    globals.ranBefore = [];
    const noted = (name: string, rest: string) => `globalThis.ranBefore.push("${name}"); ${rest}`;
    await failing({
      other: noted("other", declared("other", "")),
      "store-files": noted(
        "store",
        declared("store-files", 'store: { id: "files", description: "F", open() { throw new Error("no"); } }'),
      ),
    });
    expect(globals.ranBefore).toEqual(["store"]);
  });

  test("never runs in a worker: the plugin fails with a remedy, and the store still opens", async () => {
    const data = temporaryDirectory();
    const body = `import { createRequire } from "node:module";
      const { openSqliteStore } =
        createRequire(${JSON.stringify(import.meta.filename)})("../../../core/state/sqlite/index.ts");
      ${declared(
        "store-files",
        `store: { id: "files", description: "Files", open: ({ now, owner }) => ` +
          `openSqliteStore({ directory: ${JSON.stringify(data)}, now, owner }) }`,
      )}`;
    const { gateway } = await startWith(
      { "store-files": body },
      { plugins: { entries: { "store-files": { isolation: "worker" } } } },
    );
    const { plugins } = await gateway.describe();
    expect(plugins).toMatchObject([
      { id: "./store-files", state: "failed", reason: expect.stringContaining("store.open of its declaration") },
    ]);
    expect(plugins[0]?.hint).toContain("Remove plugins.entries.store-files.isolation");
  });
});
