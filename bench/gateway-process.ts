/**
 * A gateway in a process of its own, for the soak and the benchmarks: `node bench/gateway-process.ts CONFIG [--standby]`.
 *
 * Prints `ready <address>` when it listens; ends on SIGTERM. With `--standby` it loads all modules, prints `standby`, and does nothing else
 * until it reads a line, so that a soak with many starts does not spend its time on loading.
 */
import nodeModule from "node:module";
import { parseArgs } from "node:util";

nodeModule.enableCompileCache();
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { standby: { type: "boolean", default: false }, "slow-flush-ms": { type: "string", default: "0" } },
});
const { createGateway } = await import("../core/gateway/gateway.ts");

if (values.standby) {
  console.log("standby");
  await new Promise((resolve) => process.stdin.once("data", resolve));
  process.stdin.destroy();
}
const [configFile = ""] = positionals;
const slowFlushMs = Number(values["slow-flush-ms"]);
const gateway = await createGateway({ configFile, ...(slowFlushMs > 0 ? { slowFlushMs } : {}) });
process.once("SIGTERM", () => void gateway.close());
console.log(`ready ${gateway.url}`);
