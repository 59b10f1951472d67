/**
 * Puts another store in the place of the embedded one in a Node process of a test: imported with `--import`, as `NODE_OPTIONS` of a run
 * with `SERVICE_TEST_STORE` says.
 */
import { registerHooks } from "node:module";

const root = new URL("../../../", import.meta.url);
const embedded = new URL("core/state/sqlite/index.ts", root).href;
const replacement = new URL("test/support/store/replacement.ts", root).href;
/** As the plugin loader resolves them, for the plugin of a store. */
const doors = new Map(
  [
    ["service-gateway/sdk", "core/sdk/index.ts"],
    ["service-gateway/sdk/store", "core/sdk/store.ts"],
  ].map(([name = "", file = ""]) => [name, new URL(file, root).href]),
);

registerHooks({
  resolve(name, context, next) {
    const door = doors.get(name);
    if (door !== undefined) return { url: door, shortCircuit: true };
    const found = next(name, context);
    return found.url === embedded ? { ...found, url: replacement } : found;
  },
});
