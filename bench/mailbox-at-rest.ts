/**
 * What a mailbox costs at which nothing happens: `node bench/mailbox-at-rest.ts [--minutes 5] [--processes 5]`.
 *
 * The published program runs side by side in three kinds, several processes of each, because two equal processes differ
 * by more than a mailbox costs: without a mailbox, with one that waits in IDLE and is polled once a day, and with one
 * that is polled each minute as well. Prints the processor time a minute that each process and all its threads used.
 * The median of the second kind less that of the first is what a mailbox costs at rest; the third less the second is
 * what its polls cost. Exits 1 when the former is above five milliseconds.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startImapServer } from "../test/support/mail/imap-server.ts";
import { build } from "./cases/package.ts";
import { hookToken, inWorkshop } from "./cases/processes.ts";
import { median, spread } from "./cases/report.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "5" }, processes: { type: "string", default: "5" } },
});
const [minutes, processes] = [Number(values.minutes), Number(values.processes)];

/** Milliseconds of processor that the threads of a process have used: the scheduler counts them in nanoseconds. */
function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const used = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return used.reduce((sum, each) => sum + each, 0) / 1e6;
}

await inWorkshop(async (workshop) => {
  const main = build(workshop);
  const server = await startImapServer();
  await server.deliver("From: ada@example.com\r\nSubject: an old mail\r\n\r\nIt was here before.\r\n");
  const account = (pollSeconds: number) => ({
    ada: {
      host: "127.0.0.1",
      port: server.port,
      tls: false,
      user: server.user,
      password: server.password(),
      pollSeconds,
    },
  });
  const kinds = {
    "without a mailbox": {},
    "waits in IDLE": { imap: { accounts: account(86_400) } },
    "polled each minute": { imap: { accounts: account(60) } },
  };
  const started = Array.from({ length: processes }, (_, index) =>
    Object.entries(kinds).map(([kind, hooks]) => {
      const name = `${kind.replaceAll(" ", "-")}-${index}`;
      const file = workshop.config(name, { hooks: { enabled: true, token: hookToken, ...hooks } });
      return { kind, pid: workshop.startFile(main, ["gateway", "--config", file]).pid ?? 0 };
    }),
  ).flat();
  // Past the start, the collections of garbage after it, and the give-back of memory.
  await sleep(60_000);
  if (server.connections().now !== 2 * processes)
    throw new Error(`${server.connections().now} mailboxes are watched, not ${2 * processes}`);
  const before = started.map(({ pid }) => processorMs(pid));
  await sleep(minutes * 60_000);
  const used = started.map(({ kind, pid }, index) => ({
    kind,
    ms: (processorMs(pid) - (before[index] ?? 0)) / minutes,
  }));
  const [none = 0, idle = 0, polled = 0] = Object.keys(kinds).map((kind) => {
    const each = used.filter((process) => process.kind === kind).map(({ ms }) => ms);
    console.log(`${kind}: ${spread(each, 1)} ms a minute`);
    return median(each);
  });
  console.log(
    `at rest: ${(idle - none).toFixed(1)} ms a minute more; its polls: ${(polled - idle).toFixed(1)} ms a minute`,
  );
  await server.close();
  if (idle - none > 5) process.exitCode = 1;
});
