/** Many mails and many reconnects cost neither memory nor sockets, and a mailbox at rest asks little. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ScriptedServer, startImapServer } from "../../support/mail/imap-server.ts";
import { isWatched, type MeasuredGateway, startMeasured } from "../../support/mail/measured.ts";
import { letter } from "../../support/mail/reader.ts";

let server: ScriptedServer;
let gateway: MeasuredGateway | undefined;

beforeEach(async () => {
  server = await startImapServer();
});

afterEach(async () => {
  await gateway?.close();
  await server.close();
});

const reconnects = 60;

async function start(account: object = {}): Promise<MeasuredGateway> {
  gateway = await startMeasured(server, { pollSeconds: 5, ...account });
  await gateway.until(isWatched, 20_000);
  server.deliverAll([letter("First")]);
  await gateway.until(({ read }) => read === 1, 20_000);
  return gateway;
}

test("10,000 mails at once wait for their hour, are asked for by their numbers only, and hold no memory", async () => {
  const { ask, until } = await start({ maxPerHour: 20 });
  const idle = await ask();
  const fetched = server.count("UID FETCH");
  server.deliverAll(Array.from({ length: 10_000 }, (_, at) => letter(`Number ${at}`)));
  const paused = await until(({ state }) => state.mail?.[0]?.state === "paused", 60_000);
  expect(paused.read).toBe(20);
  // The parts of each mail that ran, and of no other.
  expect(server.count("UID FETCH") - fetched).toBeLessThan(100);
  const after = await ask();
  expect(after.heapMb - idle.heapMb).toBeLessThan(40);
}, 120_000);

test("a server that cuts the connection again and again is read over one connection at a time, with flat memory", async () => {
  const { ask, until } = await start();
  const cut = async (times: number) => {
    for (let left = times; left > 0; left -= 1) {
      const searched = server.count("UID SEARCH");
      await server.kick();
      await vi.waitFor(() => expect(server.count("UID SEARCH")).toBeGreaterThan(searched), { timeout: 20_000, interval: 2 });
    }
  };
  await cut(20);
  const before = await ask();
  await cut(reconnects);
  const after = await ask();
  expect(after.heapMb - before.heapMb).toBeLessThan(5);
  // The server hears of the end of one connection after the beginning of the next.
  expect(server.connections().most).toBeLessThanOrEqual(2);
  await vi.waitFor(() => expect(server.connections().now).toBe(1));
  server.deliverAll([letter("Last")]);
  await until(({ last }) => last === "Last", 20_000);
}, 300_000);

test("a mailbox at rest asks its server one short question for each poll", async () => {
  await start();
  await sleep(1_000);
  const commands = () => ["NOOP", "UID SEARCH", "EXAMINE", "LIST"].map((name) => server.count(name));
  const before = commands();
  await sleep(11_000);
  const after = commands();
  expect(server.connections().all).toBe(1);
  expect((after[1] ?? 0) - (before[1] ?? 0)).toBeLessThanOrEqual(3);
}, 60_000);
