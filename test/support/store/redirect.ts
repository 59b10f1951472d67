/**
 * Puts another store in the place of the embedded one in a Node process of a test: imported with `--import`, as `NODE_OPTIONS` of a run
 * with `SERVICE_TEST_STORE` says. It finds the package's own modules as `modules.ts` does.
 */
import { registerHooks } from "node:module";
import "../modules.ts";

const root = new URL("../../../", import.meta.url);
const embedded = new URL("core/state/sqlite/index.ts", root).href;
const replacement = new URL("test/support/store/replacement.ts", root).href;

registerHooks({
  resolve(name, context, next) {
    const found = next(name, context);
    return found.url === embedded ? { ...found, url: replacement } : found;
  },
});
