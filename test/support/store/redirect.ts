/**
 * Puts another store in the place of the embedded one in a Node process of a test: imported with `--import`, as
 * `NODE_OPTIONS` of a run with `SERVICE_TEST_STORE` says. It finds the package's own modules as `modules.ts` does.
 */
import { registerHooks } from "node:module";
import "../modules.ts";

const root = new URL("../../../", import.meta.url);
const embedded = new URL("core/state/sqlite/index.ts", root).href;
const replacement = new URL("test/support/store/replacement.ts", root).href;

/**
 * The clock of a database cannot be played: its leases, and the time limits of calls to it, pass in real time. So the
 * modules of such a store and of its driver get Node's own timers, which a test host does not replace.
 */
const ofDatabase = /\/(?:plugins\/store-[a-z]+|node_modules\/pg(?:-[a-z]+)?)\/.*\.(?:ts|m?js)$/;
const timers = "{ setTimeout, clearTimeout, setInterval, clearInterval }";
const ownTimers = (url: string) =>
  url.endsWith(".js")
    ? `"use strict"; const ${timers} = require("node:timers");`
    : `import ${timers} from "node:timers";`;

registerHooks({
  resolve(name, context, next) {
    const found = next(name, context);
    return found.url === embedded ? { ...found, url: replacement } : found;
  },
  load(url, context, next) {
    const loaded = next(url, context);
    return ofDatabase.test(url) ? { ...loaded, source: `${ownTimers(url)} ${loaded.source}` } : loaded;
  },
});
