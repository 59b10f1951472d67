/** Many mails and many reconnects cost neither memory nor sockets, and a mailbox at rest asks little. */
import { cpSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, test as base, beforeAll, expect, vi } from "vitest";
import { temporaryDirectory } from "../../support/directory.ts";
import { type ScriptedServer, startImapServer } from "../../support/mail/imap-server.ts";
import { imapOn, isWatched, startMeasured } from "../../support/mail/measured.ts";
import { createReader, letter } from "../../support/mail/reader.ts";

const reconnects = 60;
const hourMs = 3_600_000;
const question = "look";
/** How many of the ten thousand are read; a long run by hand takes more. */
const readAfterDowntime = Number(process.env.MAILS_AFTER_DOWNTIME ?? 30);
const tenThousand = Array.from({ length: 10_000 }, (_, at) => letter(`Number ${at}`));

type Gateway = Awaited<ReturnType<typeof startMeasured>>;

const startOn = (
  server: ScriptedServer,
  account: object,
  later: { directory?: string; aheadMs?: number } = {},
): Promise<Gateway> => startMeasured({ imap: imapOn(server, { pollSeconds: 5, ...account }) }, { ...later, question });

/** Has the first mail read. */
async function begin(server: ScriptedServer, { until }: Gateway): Promise<void> {
  await until(isWatched, 20_000);
  server.deliverAll([letter("First")]);
  await until(({ read }) => read === 1, 20_000);
}

/** A mailbox that has had 10,000 mails since its gateway ended, and what that gateway took at rest. */
let crowded: ScriptedServer;
let before: Gateway;
let residentMbBefore: number;

beforeAll(async () => {
  crowded = await startImapServer();
  before = await startOn(crowded, {});
  await begin(crowded, before);
  residentMbBefore = (await before.ask()).residentMb;
  await before.close({ keep: true });
  crowded.deliverAll(tenThousand);
}, 60_000);

afterAll(async () => {
  await before.close();
  await crowded.close();
});

const test = base
  .extend("server", async ({ onTestFinished }) => {
    const server = await startImapServer();
    onTestFinished(() => server.close());
    return server;
  })
  /** Opens the mailbox, and has its first mail read. */
  .extend("start", ({ server, onTestFinished }) => async (account: object = {}) => {
    const gateway = await startOn(server, account);
    onTestFinished(() => gateway.close());
    await begin(server, gateway);
    return gateway;
  })
  /** Opens the mailbox after the downtime, each time as if for the first time. */
  .extend("resume", ({ onTestFinished }) => async (account: object, aheadMs: number) => {
    const directory = temporaryDirectory();
    cpSync(before.directory, directory, { recursive: true });
    const gateway = await startOn(crowded, account, { directory, aheadMs });
    onTestFinished(() => gateway.close());
    return gateway;
  });

test("10,000 simultaneous mails wait for their hour, are fetched only by number, and take no memory", async ({
  server,
  start,
}) => {
  const { ask, until } = await start({ maxPerHour: 20 });
  const idle = await ask();
  const fetched = server.count("UID FETCH");
  server.deliverAll(tenThousand);
  const paused = await until(({ state }) => state.mail?.[0]?.state === "paused", 60_000);
  expect(paused.read).toBe(20);
  // The parts of each mail that ran, and of no other.
  expect(server.count("UID FETCH") - fetched).toBeLessThan(100);
  const after = await ask();
  expect(after.heapMb - idle.heapMb).toBeLessThan(40);
}, 120_000);

test("after a downtime with 10,000 mails, only the newest run; others are skipped, in little memory", async ({
  resume,
}) => {
  const gateway = await resume({}, 2 * hourMs);
  const measured = await gateway.until(({ read }) => read === 50, 60_000);
  expect(measured.last).toBe("Number 9999");
  expect(measured.residentMb - residentMbBefore).toBeLessThan(40);
}, 120_000);

test("a server that keeps cutting the connection is read over one connection at a time, with flat memory", async ({
  server,
  start,
}) => {
  const { ask, until } = await start();
  const cut = async (times: number) => {
    for (let left = times; left > 0; left -= 1) {
      const searched = server.count("UID SEARCH");
      await server.kick();
      await vi.waitFor(() => expect(server.count("UID SEARCH")).toBeGreaterThan(searched), {
        timeout: 20_000,
        interval: 2,
      });
    }
  };
  await cut(20);
  const before = await ask();
  await cut(reconnects);
  const after = await ask();
  expect(after.heapMb - before.heapMb).toBeLessThan(5);
  // The server hears of the end of one connection after the beginning of the next.
  expect(server.connections().most).toBeLessThanOrEqual(2);
  await vi.waitFor(() => expect(server.connections().now).toBe(1), 60_000);
  server.deliverAll([letter("Last")]);
  await until(({ last }) => last === "Last", 20_000);
}, 300_000);

// Both wait for polls. The mailbox at rest changes nothing in the memory of the other one, which is that of a process
// of its own.
test.concurrent("10,000 mails after a downtime are read hour by hour, once each, in order, in little memory", async ({
  resume,
}) => {
  const maxPerHour = readAfterDowntime / 3;
  // Drafts make a paused mailbox look at the time every five seconds.
  const account = { maxPerHour, maxCatchUp: 10_000, reply: "draft" };
  let aheadMs = 2 * hourMs;
  const gateway = await resume(account, aheadMs);
  for (const read of [1, 2, 3].map((hours) => hours * maxPerHour)) {
    const measured = await gateway.until((now) => now.read >= read, readAfterDowntime * 100 + 30_000);
    expect(measured.last).toBe(`Number ${read - 1}`);
    expect(measured.residentMb - residentMbBefore).toBeLessThan(40);
    aheadMs += 1.01 * hourMs;
    gateway.ahead(aheadMs);
  }
}, 1_800_000);

test.concurrent("an idle mailbox sends one short request to its server per poll", async ({
  server,
  onTestFinished,
}) => {
  const reader = createReader(() => server);
  onTestFinished(() => reader.close());
  await reader.start({ account: { pollSeconds: 5 } });
  await server.deliver(letter("First"));
  await reader.arrived(1);
  await sleep(1_000);
  const commands = () => ["NOOP", "UID SEARCH", "EXAMINE", "LIST"].map((name) => server.count(name));
  const before = commands();
  await sleep(11_000);
  const after = commands();
  expect(server.connections().all).toBe(1);
  expect((after[1] ?? 0) - (before[1] ?? 0)).toBeLessThanOrEqual(3);
}, 60_000);
