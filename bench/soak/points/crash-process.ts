/**
 * Loaded before a gateway that will be killed at a labelled point: replaces its store with one that kills the process.
 */
import { registerHooks } from "node:module";

const here = (path: string) => new URL(path, import.meta.url).href;
const replacements = new Map([
  [here("../../../core/state/sqlite/index.ts"), here("./crashing-sqlite.ts")],
  [here("../../../plugins/store-postgres/index.ts"), here("./crashing-postgres.ts")],
]);

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const replacement = replacements.get(found.url);
    return replacement === undefined || context.parentURL === replacement ? found : { ...found, url: replacement };
  },
});
