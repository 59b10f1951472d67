import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkConfig } from "../../../core/config/reading/load.ts";
import { readSection } from "../../../core/config/section-settings.ts";
import type { Isolate } from "../../../core/host/isolated.ts";
import { createLoader } from "../../../core/host/load.ts";
import { createPlugins, type PluginsOptions } from "../../../core/host/plugins.ts";
import { createRegistry } from "../../../core/host/registry.ts";
import { definePlugin, type PluginDefinition, Type } from "../../../core/sdk/contract.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import type { Store } from "../../../core/state/store.ts";
import { createHooks } from "../../../core/stations/stations.ts";
import { Visit } from "../../../core/stations/visit.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";

let directory: string;
let store: Store;

beforeEach(async () => {
  directory = temporaryDirectory();
  store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
});

afterEach(async () => {
  await store.close();
  removeDirectory(directory);
});

async function bringUp(
  given: readonly PluginDefinition[],
  options: {
    readonly config?: object;
    readonly setupMs?: number;
    readonly loadMs?: number;
    readonly isolate?: Isolate;
  } = {},
) {
  const hooks = createHooks({ onObserverError: () => {} });
  const registry = createRegistry();
  const checked = checkConfig({
    text: JSON.stringify(options.config ?? {}),
    file: join(directory, "config.jsonc"),
    env: {},
  });
  const settings: PluginsOptions = {
    hooks,
    registry,
    store,
    log: pino({ level: "silent" }),
    now: Date.now,
    newId: () => "id",
    receive: async () => ({ eventId: "e", duplicate: false }),
    address: () => "http://127.0.0.1:1",
    owner: async () => undefined,
    takeDuty: async () => true,
    handIn: async () => ({ eventId: "e", duplicate: false }),
    presets: { settings: () => undefined, secret: String },
    sectionOf: (section) => readSection(section, () => checked.config),
    onDeclared: () => {},
    timezone: () => "UTC",
    config: () => checked.config,
    configDirectory: directory,
    disabled: checked.disabled,
    loader: createLoader({
      cacheDirectory: join(directory, "cache"),
      fresh: true,
      ...(options.loadMs === undefined ? {} : { loadMs: options.loadMs }),
    }),
    given,
    bundled: false,
    ...(options.setupMs === undefined ? {} : { setupMs: options.setupMs }),
    ...(options.isolate === undefined ? {} : { isolate: options.isolate }),
  };
  const plugins = await createPlugins(settings);
  return { plugins, hooks, registry, report: (id: string) => plugins.reports().find((report) => report.id === id) };
}

/** A host and a store as a plugin in JavaScript calls them. */
type Untyped = Readonly<
  Record<
    "tap" | "command" | "route" | "engine" | "channel" | "check" | "status" | "panel",
    (...args: unknown[]) => unknown
  >
>;
type UntypedStore = Readonly<Record<"set" | "update" | "list", (...args: unknown[]) => Promise<unknown>>>;

const plugin = (id: string, change: Partial<PluginDefinition> = {}): PluginDefinition => ({
  id,
  version: "1.0.0",
  host: "^0.2.0",
  setup() {},
  ...change,
});

describe("a declaration is checked before any code runs", () => {
  test.each<[string, Partial<PluginDefinition>, string]>([
    [
      "a range that this host does not serve",
      { host: "^2.0.0" },
      "was written for SDK ^2.0.0; this host provides 0.2.0",
    ],
    ["an invalid range", { host: "newest" }, "semantic version range"],
    ["an invalid version", { version: "one" }, "semantic version"],
    ["a plugin that is not there", { requires: ["other"] }, "requires other"],
  ])("%s", async (_name, change, message) => {
    let ran = false;
    const { report } = await bringUp([
      plugin("guest", {
        ...change,
        setup() {
          ran = true;
        },
      }),
    ]);
    expect(report("guest")).toMatchObject({ state: "failed" });
    expect(report("guest")?.reason).toContain(message);
    expect(ran).toBe(false);
  });

  test("invalid options are reported with their path, and the code does not run", async () => {
    const guest = definePlugin({
      id: "guest",
      version: "1.0.0",
      host: "^0.2.0",
      options: Type.Object({ size: Type.Integer({ minimum: 1, default: 3 }) }),
      setup() {},
    });
    const { report } = await bringUp([guest], {
      config: { plugins: { entries: { guest: { options: { size: "big" } } } } },
    });
    expect(report("guest")?.reason).toContain("plugins.entries.guest.options.size");
  });

  test("options get their defaults", async () => {
    let size = 0;
    const guest = definePlugin({
      id: "guest",
      version: "1.0.0",
      host: "^0.2.0",
      options: Type.Object({ size: Type.Integer({ default: 3 }) }),
      setup(_host, options) {
        size = options.size;
      },
    });
    await bringUp([guest]);
    expect(size).toBe(3);
  });

  test("a second plugin with the same id is reported with both paths, and the first runs", async () => {
    for (const folder of ["guest", "copy"]) {
      mkdirSync(join(directory, "node_modules", folder), { recursive: true });
      const text = 'export default { id: "guest", version: "1.0.0", host: "^0.2.0", setup() {} };';
      writeFileSync(join(directory, "node_modules", folder, "index.js"), text);
    }
    // The second is named like the id, which must not hide its failure behind the first.
    const { plugins } = await bringUp([], { config: { plugins: { load: ["./node_modules/copy", "guest"] } } });
    const of = (state: string) => plugins.reports().filter((report) => report.state === state);
    expect(of("up")).toMatchObject([{ id: "guest" }]);
    const places = ["copy", "guest"].map((folder) => join(directory, "node_modules", folder, "index.js"));
    const reason = `Two plugins have the id guest: ${places.join(" and ")}. Only the first is loaded`;
    expect(of("failed")).toMatchObject([{ id: "guest", reason, hint: expect.stringContaining("plugins.load") }]);
  });

  test("a plugin that is disabled, or opt-in and not enabled, does not run", async () => {
    const { report } = await bringUp([plugin("off"), plugin("rare", { optIn: true })], {
      config: { plugins: { entries: { off: { enabled: false } } } },
    });
    expect([report("off")?.state, report("rare")?.state]).toEqual(["off", "off"]);
  });
});

describe("a failing plugin is left out, and the rest run", () => {
  test("if it throws in setup, with all its taps, commands and engines", async () => {
    const broken = plugin("broken", {
      setup(host) {
        host.tap("gating", () => ({ code: "never" }));
        host.command({ name: "broken", summary: "x", role: "allowed", run: () => "" });
        throw new Error("no luck");
      },
    });
    const { report, hooks, registry } = await bringUp([broken, plugin("sound")]);
    expect(report("broken")).toMatchObject({ state: "failed", reason: "The plugin broken failed in setup: no luck" });
    expect(report("sound")?.state).toBe("up");
    expect(hooks.taps()).toEqual([]);
    expect(registry.commands).toEqual([]);
  });

  test("if it hangs in setup, after a time limit, and is named", async () => {
    const { report } = await bringUp([plugin("slow", { setup: () => new Promise(() => {}) }), plugin("sound")], {
      setupMs: 50,
    });
    expect(report("slow")?.reason).toBe("The plugin slow did not finish setup within 0.05 s");
    expect(report("sound")?.state).toBe("up");
  });

  test("together with the plugins that require it", async () => {
    const { report } = await bringUp([
      plugin("needy", { requires: ["broken"] }),
      plugin("broken", {
        setup() {
          throw new Error("no luck");
        },
      }),
    ]);
    expect(report("needy")?.reason).toContain("requires broken");
  });

  test("registering after setup is rejected", async () => {
    let late: (() => void) | undefined;
    await bringUp([
      plugin("guest", {
        setup(host) {
          late = () => host.tap("settled", () => {});
        },
      }),
    ]);
    expect(() => late?.()).toThrow("after setup");
  });
});

describe("registrations in setup are checked", () => {
  test.each<[string, (host: Untyped) => unknown, string]>([
    [
      "a tap of a hook that does not exist",
      (host) => host.tap("outgoing", () => {}),
      "there is no hook outgoing; the hooks are ingress, ",
    ],
    [
      "a tap with an invalid order",
      (host) => host.tap("settled", () => {}, { order: "last" }),
      "must be early, normal or late",
    ],
    ["a tap without a function", (host) => host.tap("settled"), "tap of settled was called without a function"],
    [
      "a command without run",
      (host) => host.command({ name: "a", summary: "A.", role: "owner" }),
      "the command a has no run function",
    ],
    [
      "a command without a summary",
      (host) => host.command({ name: "a", role: "owner", run: String }),
      "the command a needs a summary",
    ],
    [
      "a route without a handler",
      (host) => host.route({ method: "GET", path: "a", access: "public" }),
      "the route a has no handler",
    ],
    [
      "a route without a method",
      (host) => host.route({ path: "a", access: "public", handler: String }),
      "the route a needs a method",
    ],
    ["an engine without run", (host) => host.engine({ id: "a" }), "the engine a has no run function"],
    ["an engine without an id", (host) => host.engine({ run: String }), "an engine needs an id"],
    ["a channel without an id", (host) => host.channel({ open: String }), "the id of its channel must be a to z"],
    ["a check without a name", (host) => host.check({ explain: String }), "a check needs a name"],
    [
      "a panel without a title",
      (host) => host.panel({ id: "a", empty: "None.", entries: String }),
      "the panel a needs a title and a sentence for empty",
    ],
    [
      "a panel whose act has no role",
      (host) =>
        host.panel({ id: "a", title: "A", empty: "None.", entries: String, acts: { b: { label: "B", run: String } } }),
      "the act b of the panel a needs a role: operate or admin",
    ],
    [
      "two panels with one id",
      (host) => [1, 2].map(() => host.panel({ id: "a", title: "A", empty: "None.", entries: String })),
      "it adds two panels with the id a",
    ],
    ["a report that is not a function", (host) => host.status([]), "status was called without a function"],
  ])("%s leaves its plugin out with the reason, and the rest run", async (_, register, message) => {
    const settled: string[] = [];
    const { report, hooks } = await bringUp([
      plugin("first", { setup: (host) => host.tap("settled", () => void settled.push("first")) }),
      plugin("guest", { setup: (host) => void register(host as unknown as Untyped) }),
      plugin("last", { setup: (host) => host.tap("settled", () => void settled.push("last")) }),
    ]);
    expect(report("guest")).toMatchObject({ state: "failed", reason: expect.stringContaining(message) });
    await hooks.settled({} as never, new Visit());
    expect(settled).toEqual(["first", "last"]);
  });
});

describe("order", () => {
  test("required plugins start first, and closing runs in reverse order and continues after a failure", async () => {
    const log: string[] = [];
    const noting = (id: string, requires: string[] = []) =>
      plugin(id, {
        requires,
        setup(host) {
          log.push(`up ${id}`);
          host.onClose(() => {
            log.push(`down ${id}`);
            if (id === "b") throw new Error("stuck");
          });
        },
      });
    const { plugins } = await bringUp([noting("c", ["b"]), noting("b", ["a"]), noting("a")]);
    await plugins.close();
    await plugins.close();
    expect(log).toEqual(["up a", "up b", "up c", "down c", "down b", "down a"]);
  });

  test("taps run early, normal, late, in any order of registration", async () => {
    const { hooks } = await bringUp([
      plugin("late", {
        setup: (host) => host.tap("formatting", (reply) => ({ ...reply, text: `${reply.text}3` }), { order: "late" }),
      }),
      plugin("normal", { setup: (host) => host.tap("formatting", (reply) => ({ ...reply, text: `${reply.text}2` })) }),
      plugin("early", {
        setup: (host) => host.tap("formatting", (reply) => ({ ...reply, text: `${reply.text}1` }), { order: "early" }),
      }),
    ]);
    const reply = await hooks.formatting({ text: "", media: [], buttons: [] }, {} as never, new Visit());
    expect(reply.text).toBe("123");
  });
});

describe("loading", () => {
  function write(name: string, source: string): string {
    const folder = join(directory, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "index.ts"), source);
    return `./${name}`;
  }

  test("a TypeScript file from plugins.load gets the same SDK instance that runs here", async () => {
    const path = write(
      "greeter",
      `import { definePlugin, sdkVersion } from "service-gateway/sdk";
       import { ChannelError } from "service-gateway/sdk/channel";
       enum Colour { Red = "red" }
       export default definePlugin({ id: "greeter", version: "1.2.3", host: "^0.2.0", setup(host) {
         host.command({ name: "greet", summary: sdkVersion, role: "anyone", run: () => { throw new ChannelError(Colour.Red); } });
       } });`,
    );
    const { report, registry } = await bringUp([], { config: { plugins: { load: [path] } } });
    expect(report("greeter")).toMatchObject({ state: "up", version: "1.2.3", bundled: false });
    const { ChannelError } = await import("../../../core/sdk/contract.ts");
    expect(() => registry.commands[0]?.definition.run({} as never)).toThrow(ChannelError);
  });

  test("a file with a syntax error, without a default export, or missing is named", async () => {
    const config = {
      plugins: {
        load: [
          write("syntax", "export default {{"),
          write("empty", "export const x = 1;"),
          "./absent",
          "no-such-package",
        ],
      },
    };
    const { plugins } = await bringUp([plugin("sound")], { config });
    expect(
      plugins
        .reports()
        .map(({ id, state }) => `${id} ${state}`)
        .sort(),
    ).toEqual(["./absent failed", "./empty failed", "./syntax failed", "no-such-package failed", "sound up"]);
  });

  test("a module that never finishes loading is left out after a time limit, and the rest run", async () => {
    const config = { plugins: { load: [write("stuck", "await new Promise(() => {}); export default {};")] } };
    const { report } = await bringUp([plugin("sound")], { config, loadMs: 300 });
    expect(report("./stuck")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("for more than 0.3 s"),
    });
    expect(report("sound")?.state).toBe("up");
  });

  test("a saved file whose worker cannot replace the running one leaves no worker behind", async () => {
    const workers: string[] = [];
    let declared = plugin("guest");
    const isolate: Isolate = async () => ({
      definition: declared,
      report: () => ({ state: "up", restarts: 0 }),
      close: async () => void workers.push("closed"),
    });
    const path = write("guest", "");
    const config = { plugins: { load: [path], entries: { guest: { isolation: "worker" } } } };
    const { plugins, report } = await bringUp([], { config, isolate });
    expect(report("guest")).toMatchObject({ state: "up", isolation: "worker" });
    for (const change of [{ options: Type.Object({ missing: Type.String() }) }, { requires: ["absent"] }]) {
      declared = plugin("guest", change);
      await expect(plugins.renew(path)).rejects.toThrow();
    }
    declared = plugin("other");
    await expect(plugins.renew(path)).rejects.toThrow("its id was guest and is other now");
    expect(workers).toEqual(["closed", "closed", "closed"]);
  });

  test("a store rejects what it could not return: promises, values outside JSON, keys that are not text", async () => {
    const stores: UntypedStore[] = [];
    await bringUp([plugin("one", { setup: (host) => void stores.push(host.store as unknown as UntypedStore) })]);
    const [store] = stores as [UntypedStore];
    await store.set("count", 1);
    await expect(store.update("count", async () => 2)).rejects.toThrow(
      "received a promise as value of count: await it",
    );
    await expect(store.update("count", () => Promise.reject(new Error("unhandled")))).rejects.toThrow(
      "received a promise",
    );
    await expect(store.set("count", undefined)).rejects.toThrow(
      "store.set received a value of count that is not JSON: undefined",
    );
    await expect(store.set(5, "five")).rejects.toThrow("store.set needs a text as key, not 5");
    expect(await store.list()).toEqual([{ key: "count", value: 1 }]);
  });

  test("the stores of two plugins are separate", async () => {
    const seen: unknown[] = [];
    await bringUp([
      plugin("one", { setup: async (host) => void (await host.store.set("key", "of one")) }),
      plugin("two", { setup: async (host) => void seen.push(await host.store.get("key")) }),
    ]);
    expect(seen).toEqual([null]);
  });
});

describe("a section of the configuration", () => {
  const schema = Type.Object(
    { days: Type.Integer({ default: 3, description: "Days." }) },
    { default: {}, description: "Notes." },
  );
  const withSection = (id: string, key: string, change: Partial<PluginDefinition> = {}) =>
    plugin(id, { section: { key, schema }, ...change });

  test("belongs to one plugin: the second that declares it is left out", async () => {
    const { report } = await bringUp([withSection("first", "notes"), withSection("second", "notes")]);
    expect(report("first")).toMatchObject({ state: "up" });
    expect(report("second")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("already declared by first"),
    });
  });

  test.each(["gateway", "hooks", "plugins"])("is no key of the gateway, such as %s", async (key) => {
    expect((await bringUp([withSection("notes", key)])).report("notes")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining(`${key}, which is one of the gateway's own`),
    });
  });

  test("is handed to its own plugin only, and a plugin that does not ask for it is reported", async () => {
    const { report } = await bringUp([
      withSection("notes", "notes", { setup: (host) => void host.section("notes") }),
      withSection("silent", "silence"),
      plugin("thief", { setup: (host) => void host.section("notes") }),
    ]);
    expect(report("notes")).toEqual({ id: "notes", version: "1.0.0", bundled: false, state: "up" });
    expect(report("silent")).toMatchObject({ state: "up", unread: ["silence"] });
    expect(report("thief")).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("it declares no section notes"),
    });
  });
});
