/** A gateway that can be weighed: `node bench/weighed-gateway.ts CONFIG`. Prints `ready <address>`, and for each line that comes in the bytes in use after it gave back what it could, as `service gateway` does when it is quiet. */
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
