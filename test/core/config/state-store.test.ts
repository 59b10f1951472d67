/** The settings of the store: what belongs together, and what of it waits for a restart. */
import { describe, expect, test } from "vitest";
import { showConfigValue } from "../../../core/config/editing/values.ts";
import { changedAtStart, waitsForStart } from "../../../core/config/reading/at-start.ts";
import { glanceAt } from "../../../core/config/reading/glance.ts";
import { createSecrets } from "../../../core/config/secrets.ts";
import { checkStateSettings } from "../../../core/stores/index.ts";
import { errorsOf, load, writeConfig } from "./fixture.ts";

const address = "postgres://ada:s3cret-word@db.example/gateway";

describe("state.store and state.url", () => {
  test("without them, the state is a file in the state directory", async () => {
    const loaded = await load({});
    expect(loaded.problems).toEqual([]);
    expect(loaded.config.state).toMatchObject({ store: "sqlite" });
  });

  test.each([
    [
      "another store without an address",
      { store: "postgres" },
      {},
      "state.url",
      "is missing, and the store postgres needs it",
    ],
    [
      "an address for SQLite",
      { url: address },
      {},
      "state.url",
      "is set, but state.store is sqlite, which has no address",
    ],
    [
      "a text that is not an address",
      { store: "postgres", url: "db.example" },
      {},
      "state.url",
      "is not a valid address",
    ],
    [
      "a file that is not there",
      { store: "postgres", url: { file: "nowhere" } },
      {},
      "state.url",
      "nowhere does not exist",
    ],
    ["an invalid name of a store", { store: "Post Gres" }, {}, "state.store", "the ID of a store, such as sqlite"],
  ])("%s is an error", async (_name, state, env, path, message) => {
    const errors = errorsOf(await load({ state }, env));
    expect(errors).toMatchObject([{ path, message: expect.stringContaining(message) as string }]);
    expect(JSON.stringify(errors)).not.toContain("s3cret-word");
  });

  test("the plugin of the store cannot be disabled, as the gateway must not start on another database", async () => {
    const state = { store: "postgres", url: address };
    const loaded = await load({ state, plugins: { entries: { "store-postgres": { enabled: false } } } });
    expect(errorsOf(loaded)).toMatchObject([
      { path: "state.store", message: "is postgres, but plugins.entries.store-postgres.enabled is false" },
    ]);
    expect(() => checkStateSettings(loaded, createSecrets({ env: {}, directory: "." }))).toThrow(
      "plugins.entries.store-postgres.enabled",
    );
    for (const entries of [{ "store-postgres": { enabled: true } }, { "store-files": { enabled: false } }])
      expect(errorsOf(await load({ state, plugins: { entries } }))).toEqual([]);
  });

  test("an unset variable causes only a warning, because it may be set for the gateway", async () => {
    const { problems } = await load({ state: { store: "postgres", url: { env: "DATABASE_URL" } } });
    expect(problems).toMatchObject([{ severity: "warning", path: "state.url" }]);
    expect(problems[0]?.message).toContain("DATABASE_URL is not set; no gateway starts without it");
  });

  test("the address is a secret, regardless of its source", async () => {
    const state = { store: "postgres", url: { env: "DATABASE_URL" } };
    expect((await load({ state }, { DATABASE_URL: address })).problems).toEqual([]);
    const { config } = await load({ state: { store: "postgres", url: address } });
    expect(showConfigValue(config, "state.url", {})).toBe("(set)");
  });

  test("a change of store, address or node name takes effect after a restart", async () => {
    const [before, after] = await Promise.all([
      load({}),
      load({ gateway: { node: "one" }, state: { store: "postgres", url: address } }),
    ]);
    expect(changedAtStart(before.config, after.config)).toEqual(["state.store", "state.url", "gateway.node"]);
    expect(["state.store", "state.url", "state.url.env", "gateway.node"].map(waitsForStart)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(waitsForStart("state.retention")).toBe(false);
  });

  test("a command reads both settings even from a file with a syntax error", async () => {
    const file = writeConfig(
      `{ "gateway": { "node": "one" }, "state": { "store": "postgres", "url": { "env": "A" } }, } }`,
    );
    expect(await glanceAt({ file, named: true })).toMatchObject({
      node: "one",
      state: { store: "postgres", url: { env: "A" } },
      broken: { code: "config_syntax" },
    });
    expect(await glanceAt({ file: writeConfig({ state: { store: 5 } }), named: true })).toMatchObject({
      state: { store: "sqlite" },
    });
  });
});

test("a node name consists of plain characters", async () => {
  expect((await load({ gateway: { node: "eu-1.example_a" } })).problems).toEqual([]);
  expect(errorsOf(await load({ gateway: { node: "a node" } }))).toMatchObject([{ path: "gateway.node" }]);
});
