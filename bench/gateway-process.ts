/**
 * A gateway in a process of its own, for the soak and the benchmarks: `node bench/gateway-process.ts CONFIG [--standby]
 * [--plugin FILE]`.
 *
 * Prints `ready <address>` when it listens; ends on SIGTERM. With `--standby` it loads all modules, prints `standby`,
 * and does nothing else until it reads a line, so that a soak with many starts does not spend its time on loading. The
 * plugin of `--plugin` is loaded by Node, with the other modules: each new state directory would transpile it again.
 */
import nodeModule from "node:module";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { PluginDefinition } from "../core/sdk/index.ts";

nodeModule.enableCompileCache();
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    standby: { type: "boolean", default: false },
    plugin: { type: "string" },
    "slow-flush-ms": { type: "string", default: "0" },
  },
});
const { createGateway } = await import("../core/gateway/gateway.ts");
const given =
  values.plugin === undefined
    ? []
    : [((await import(pathToFileURL(values.plugin).href)) as { readonly default: PluginDefinition }).default];

if (values.standby) {
  console.log("standby");
  await new Promise((resolve) => process.stdin.once("data", resolve));
  process.stdin.destroy();
}
const [configFile = ""] = positionals;
const slowFlushMs = Number(values["slow-flush-ms"]);
const gateway = await createGateway({ configFile, plugins: given, ...(slowFlushMs > 0 ? { slowFlushMs } : {}) });
process.once("SIGTERM", () => void gateway.close());
console.log(`ready ${gateway.url}`);
