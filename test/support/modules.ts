/**
 * How a process that runs test files finds the modules of the house: Node loads them itself, from their source.
 * Imported with `--import`.
 */
import { enableCompileCache, registerHooks } from "node:module";

const root = new URL("../../", import.meta.url);
/** As the plugin loader resolves them. A plugin that is a package of its own would look for an installed copy. */
const doors = new Map(
  ["sdk/index.ts", "sdk/channel.ts", "sdk/store.ts", "sdk/reading.ts", "sdk/tools.ts", "testkit/index.ts"].map(
    (file) => [`service-gateway/${file.replace(/(?:\/index)?\.ts$/, "")}`, new URL(`core/${file}`, root).href],
  ),
);
/** They start threads and processes from files beside their own. */
const starters = new Map(
  ["core/state/sqlite/thread/writer-side", "core/isolation/plugin-thread", "core/transforms/trusted"].map((name) => [
    new URL(`${name}.ts`, root).href,
    name,
  ]),
);
const program = process.env.TEST_PROGRAM;

// Each file is stripped of its types and compiled once, not by each process.
enableCompileCache(process.env.NODE_COMPILE_CACHE ?? new URL("node_modules/.cache/tests", root).pathname);

registerHooks({
  resolve(name, context, next) {
    const door = doors.get(name);
    return door === undefined ? next(name, context) : { url: door, shortCircuit: true };
  },
  load(url, context, next) {
    const loaded = next(url, context);
    const name = starters.get(url);
    if (name === undefined || program === undefined) return loaded;
    // A gateway inside a test starts those of the bundled program, as gateways in processes do: they load fewer files.
    const place = JSON.stringify(new URL(`file://${program}/${name}.js`).href);
    return { ...loaded, source: String(loaded.source).replaceAll("import.meta.url", place) };
  },
});
