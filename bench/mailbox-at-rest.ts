/**
 * What a mailbox costs at which nothing happens: `node bench/mailbox-at-rest.ts [--minutes 5]`.
 *
 * The published program runs three times side by side: without a mailbox, with one that waits in IDLE and is polled once a
 * day, and with one that is polled each minute as well. Prints, for each minute, the processor time that each process and
 * all its threads used. The second less the first is what a mailbox costs at rest, the third less the second what its polls
 * cost. Exits 1 when the median of the former is above five milliseconds.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startImapServer } from "../test/support/mail/imap-server.ts";
import { build } from "./cases/package.ts";
import { hookToken, inWorkshop } from "./cases/processes.ts";
import { median, spread } from "./cases/report.ts";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "5" } } });

/** Milliseconds of processor that the threads of a process have used: the scheduler counts them in nanoseconds. */
function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const used = threads.map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]));
  return used.reduce((sum, each) => sum + each, 0) / 1e6;
}

await inWorkshop(async (workshop) => {
  const main = build(workshop);
  const server = await startImapServer();
  await server.deliver("From: ada@example.com\r\nSubject: an old mail\r\n\r\nIt was here before.\r\n");
  const account = (pollSeconds: number) => ({
    ada: { host: "127.0.0.1", port: server.port, tls: false, user: server.user, password: server.password(), pollSeconds },
  });
  const config = (name: string, imap: object) => workshop.config(name, { hooks: { enabled: true, token: hookToken, ...imap } });
  const pids = [
    config("none", {}),
    config("idle", { imap: { accounts: account(86_400) } }),
    config("polled", { imap: { accounts: account(60) } }),
  ].map((file) => workshop.startFile(main, ["gateway", "--config", file]).pid ?? 0);
  // Past the start, the collections of garbage after it, and the give-back of memory.
  await sleep(60_000);
  if (server.connections().now !== 2) throw new Error(`${server.connections().now} mailboxes are watched, not 2`);
  const atRest: number[] = [];
  const polls: number[] = [];
  for (let minute = 0; minute < Number(values.minutes); minute += 1) {
    const before = pids.map(processorMs);
    await sleep(60_000);
    const [none = 0, idle = 0, polled = 0] = pids.map((pid, index) => processorMs(pid) - (before[index] ?? 0));
    console.log(`none ${none.toFixed(1)} ms, waits in IDLE ${idle.toFixed(1)} ms, polled each minute ${polled.toFixed(1)} ms`);
    atRest.push(idle - none);
    polls.push(polled - idle);
  }
  console.log(`at rest: ${spread(atRest, 1)} ms a minute more; its polls: ${spread(polls, 1)} ms a minute`);
  await server.close();
  if (median(atRest) > 5) process.exitCode = 1;
});
