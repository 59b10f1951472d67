/**
 * A gateway in a process of its own that watches a mailbox, and says what that costs: `node
 * test/support/mail/measured-process.ts CONFIG [AHEAD]`. Prints `ready`, and for each line that comes in one line of
 * JSON, after a collection of garbage. The line `begin` counts from there on; after the line `look`, a process that has
 * hardly worked since its last collection does without one and prints the memory of that time. AHEAD, and the line
 * `ahead MS`, which is not answered, set its clock ahead of the machine's, in milliseconds. The variable `MAIL_CRASH`
 * says at which write the process dies, as JSON of a `MailCrash`.
 */
import { createInterface } from "node:readline";
import { createGateway } from "../../../core/gateway/gateway.ts";
import mail from "../../../plugins/mail/index.ts";
import { createEngine } from "../gateway.ts";
import { crashingAt, type MailCrash } from "./crashing-mail.ts";
import type { Measured } from "./measured.ts";

const [configFile = "", aheadAtStart = "0"] = process.argv.slice(2);
let read = 0;
let last = "";
const engine = createEngine(({ inbound }) => {
  if (inbound.kind !== "hook") return "HEARTBEAT_OK";
  read += 1;
  last = /Subject: (.{0,100})/.exec(inbound.text)?.[1] ?? "";
  return "read";
});
const { MAIL_CRASH } = process.env;
const watching = MAIL_CRASH === undefined ? mail : crashingAt(JSON.parse(MAIL_CRASH) as MailCrash, mail);
let ahead = Number(aheadAtStart);
const now = () => Date.now() + ahead;
const gateway = await createGateway({ configFile, environment: {}, bundled: false, plugins: [watching, engine], now });
/** A process that is busy works several times as long between two questions, in microseconds. */
const littleWorkUs = 30_000;
let collectedAt = process.cpuUsage();
let memory = process.memoryUsage();

/** The memory after a collection of garbage. */
function collect(): NodeJS.MemoryUsage {
  globalThis.gc?.();
  memory = process.memoryUsage();
  collectedAt = process.cpuUsage();
  return memory;
}

function hasWorked(): boolean {
  const { user, system } = process.cpuUsage(collectedAt);
  return user + system > littleWorkUs;
}

/** Processor time of this thread, so that other programs of the machine do not count. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

let [lastTurn, longestTurn] = [threadMs(), 0];
setInterval(() => {
  const now = threadMs();
  longestTurn = Math.max(longestTurn, now - lastTurn);
  lastTurn = now;
}, 1).unref();
let used = process.cpuUsage();
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const set = /^ahead (\d+)$/.exec(line)?.[1];
  if (set !== undefined) {
    ahead = Number(set);
    continue;
  }
  const found = Math.max(longestTurn, threadMs() - lastTurn);
  const { user, system } = process.cpuUsage(used);
  if (line === "begin") used = process.cpuUsage();
  const { heapUsed, external, rss } = line === "look" && !hasWorked() ? memory : collect();
  const measured: Measured = {
    read,
    last,
    heapMb: (heapUsed + external) / 2 ** 20,
    residentMb: rss / 2 ** 20,
    cpuMs: (user + system) / 1_000,
    longestBlockMs: found,
    state: (await gateway.describe()).watched as Measured["state"],
  };
  // The collection itself stops the loop.
  setImmediate(() => {
    [lastTurn, longestTurn] = [threadMs(), 0];
  });
  console.log(JSON.stringify(measured));
}
await gateway.close();
