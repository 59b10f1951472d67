/**
 * A gateway whose memory can be measured: `node bench/weighed-gateway.ts CONFIG`. Prints `ready <address>`. For each
 * input line it releases memory, as `service gateway` does when it is quiet, and prints the bytes in use.
 */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { giveMemoryBack } from "../core/cli/start/memory.ts";
import { createGateway } from "../core/gateway/gateway.ts";

const [configFile = ""] = process.argv.slice(2);
const gateway = await createGateway({ configFile });
process.once("SIGTERM", () => void gateway.close());
console.log(`ready ${gateway.url}`);
for await (const _line of createInterface({ input: process.stdin })) {
  for (let round = 0; round < 3; round += 1) {
    await giveMemoryBack();
    await sleep(50);
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  console.log(JSON.stringify({ used: heapUsed + external, resident: rss }));
}
