/** Loaded before a gateway that will be killed at a labelled point: replaces its store by `crashing-store.ts`. */
import { registerHooks } from "node:module";

const real = new URL("../../../core/state/sqlite/index.ts", import.meta.url).href;
const crashing = new URL("./crashing-store.ts", import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    return found.url === real && context.parentURL !== crashing ? { ...found, url: crashing } : found;
  },
});
