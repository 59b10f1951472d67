/** What a command loads. Its time is mostly that, and unlike a time it is the same on a busy machine. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { aroundEach, describe, test } from "vitest";
import { sectionsOf } from "../../../core/host/declaration/schemas.ts";
import { bundledPlugins } from "../../../core/host/find.ts";
import { readOutline } from "../../../core/host/outline.ts";
import type { PluginDefinition } from "../../../core/sdk/contract.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { listsIn, probe } from "../../support/loaded-files.ts";
import { expect, inOwnTest } from "../../support/own-test.ts";
import { type Finished, ownFlags, run, start, temporaryHome } from "./command.ts";
import { run as runShared } from "./command-runner.ts";

aroundEach(inOwnTest);

async function loadedBy(
  args: readonly string[],
  home: string,
): Promise<Finished & { readonly files: readonly string[] }> {
  const finished = await run(args, { home, nodeArgs: ["--import", probe] });
  return { ...finished, files: listsIn(finished.err).flat() };
}

/** Names of the libraries, and the plugins. */
const partsOf = (files: readonly string[]): readonly string[] => [
  ...new Set(
    files.flatMap(
      (file) =>
        /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ??
        /^(?!.*\/core\/).*\/(plugins\/[^/]+)/.exec(file)?.[1] ??
        [],
    ),
  ),
];

function homeWith(config: object): string {
  const home = temporaryHome();
  mkdirSync(join(home, ".service"));
  writeFileSync(join(home, ".service", "config.jsonc"), JSON.stringify(config));
  return home;
}

describe.concurrent("plugin commands", () => {
  test("a plugin that hangs while loading is named and delays the overview by at most 3 s", async () => {
    const home = homeWith({ plugins: { load: ["./stuck"] } });
    const folder = join(home, ".service", "stuck");
    mkdirSync(folder);
    writeFileSync(join(folder, "index.ts"), "await new Promise(() => {}); export default {};");
    const listing = start(["plugins", "list"], { home });
    const help = start(["--help"], { home });
    await listing.until(/Waiting for the code of the plugin \.\/stuck \(at most 30 s\) \.\.\.\n/);
    const { code, out, err } = await help.finished;
    expect([code, err]).toEqual([0, "Waiting for the code of the plugin ./stuck (at most 3 s) ...\n"]);
    expect(out).toContain("\n  devices list|approve|revoke ");
  });

  test("each bundled plugin with commands lists them in its commands.json", async () => {
    const declared = await Promise.all(
      bundledPlugins().map(async ({ file }) => {
        const definition = ((await import(pathToFileURL(file).href)) as { readonly default: PluginDefinition }).default;
        const { cli } = definition;
        const commands = cli?.commands.map(({ name }) => name);
        const outline = cli && {
          name: cli.name,
          summary: cli.summary,
          commands,
          configuration: sectionsOf(definition),
        };
        return [dirname(file), outline, readOutline(file)] as const;
      }),
    );
    expect(declared.filter(([, outline]) => outline !== undefined)).not.toEqual([]);
    for (const [folder, outline, written] of declared) expect([folder, written]).toEqual([folder, outline]);
  });

  test("a plugin is listed from its commands.json without running its code; without it, its code runs", async () => {
    const home = homeWith({ plugins: { load: ["./silent", "./plain", "./missing"] } });
    for (const id of ["silent", "plain"]) {
      const folder = join(home, ".service", id);
      mkdirSync(folder);
      writeFileSync(
        join(folder, "index.ts"),
        `import { definePlugin } from "service-gateway/sdk";
        import { appendFileSync } from "node:fs";
        appendFileSync(${JSON.stringify(join(home, "ran"))}, "${id} ");
        export default definePlugin({ id: "${id}", version: "1.0.0", host: "^0.2.0", setup() {},
          cli: { name: "${id}", summary: "Says ${id}.", commands: [
            { name: "say", summary: "Say it.", example: "say", run: async () => ({ lines: ["${id} said"], data: null }) }] } });`,
      );
    }
    const outline = { name: "silent", summary: "Says silent.", commands: ["say"] };
    writeFileSync(join(home, ".service", "silent", "commands.json"), JSON.stringify(outline));
    const help = await runShared(["--help"], { home });
    expect(help).toMatchObject({ code: 0, err: "" });
    expect(help.out).toMatch(/\n {2}silent say +Says silent\.\n {2}plain say +Says plain\.\n/);
    expect(readFileSync(join(home, "ran"), "utf8")).toBe("plain ");
    const store = await openSqliteStore({ directory: join(home, ".service"), now: Date.now });
    await store.begin(0);
    await store.close();
    expect(await runShared(["silent", "say"], { home })).toMatchObject({ code: 0, out: "silent said\n" });
    expect(await runShared(["silnt", "say"], { home })).toMatchObject({
      code: 2,
      err: expect.stringContaining("Did you mean silent?"),
    });
  });
});

describe.concurrent("a command loads only what it needs", () => {
  // Two files of each are the guard of handlers, which import nothing: no fault of a reader of the output ends a
  // command.
  test.each([
    ["--version", ["commander"], 34],
    ["--help", ["commander", "jsonc-parser"], 67],
    ["gateway --help", ["commander"], 34],
  ])("%s", async (line, parts, most) => {
    const home = homeWith({ gateway: { port: 0 } });
    const { code, files } = await loadedBy(line.split(" "), home);
    expect(code).toBe(0);
    expect(partsOf(files)).toEqual(parts);
    expect(files.length).toBeLessThanOrEqual(most);
  });

  test("inspecting the state loads no configuration schema, server, log writer or plugin", async () => {
    const home = homeWith({ gateway: { port: 0 } });
    const store = await openSqliteStore({ directory: join(home, ".service"), now: Date.now });
    await store.begin(0);
    const event = { source: "chat", kind: "message", lane: "chat:a:7", authority: "channel", body: {} } as const;
    await store.accept({ id: "event-1", at: 1, event });
    await store.close();
    mkdirSync(join(home, ".service", "logs"));
    writeFileSync(join(home, ".service", "logs", "gateway.log"), "");
    for (const line of ["status", "why", "events list", "logs"]) {
      const { code, files } = await loadedBy(line.split(" "), home);
      expect([line, code, partsOf(files)]).toEqual([line, 0, ["commander", "jsonc-parser"]]);
    }
  });
});

test.concurrent("a gateway loads no other store and no backup, and little of MCP and the console", async () => {
  const home = homeWith({ gateway: { port: 0 } });
  const gateway = start(["gateway"], { home, nodeArgs: ["--import", probe, ...ownFlags] });
  await gateway.until(/ready at/);
  gateway.child.kill("SIGTERM");
  const { code, err } = await gateway.finished;
  const files = listsIn(err).flat();
  expect([code, files.some((file) => file.endsWith("/core/stores/open.ts"))]).toEqual([0, true]);
  const ofMcp = files.flatMap((file) => /(?:plugins\/|@ai-sdk\/)mcp\/.*/.exec(file)?.[0] ?? []);
  expect(ofMcp.sort()).toEqual(
    ["cli", "codes", "index", "panel/panel", "routes", "section", "settings"].map((name) => `plugins/mcp/${name}.ts`),
  );
  expect(files.filter((file) => /\/plugins\/store-|\/stores\/plugin-store|\/node_modules\/pg/.test(file))).toEqual([]);
  // No backup is configured, and no browser has opened the console.
  expect(
    files.filter((file) => /\/modern-tar\/|\/backups\/create|\/node_modules\/(?:preact|htm)\//.test(file)),
  ).toEqual([]);
  const ofConsole = /routes\/v1\/(?!register)|gateway\/console|page-editing|masked-text|panel\/entries|panel-entries/;
  expect(files.filter((file) => ofConsole.test(file))).toEqual([]);
});

test.concurrent("a gateway starts without the data of time zones, which takes 6 MB for good", async () => {
  const home = homeWith({ gateway: { port: 0 } });
  const watching = `
    const { DateTimeFormat } = Intl;
    Intl.DateTimeFormat = new Proxy(DateTimeFormat, {
      apply: (...call) => (console.error("a time zone is looked up"), Reflect.apply(...call)),
      construct: (...call) => (console.error("a time zone is looked up"), Reflect.construct(...call)),
    });`;
  const nodeArgs = ["--import", `data:text/javascript,${encodeURIComponent(watching)}`, ...ownFlags];
  const gateway = start(["gateway"], { home, nodeArgs });
  await gateway.until(/ready at/);
  gateway.child.kill("SIGTERM");
  const { code, err } = await gateway.finished;
  expect([code, err]).toEqual([0, expect.not.stringContaining("a time zone is looked up")]);
});
