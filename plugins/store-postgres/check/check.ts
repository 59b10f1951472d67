/** Examines the database for `service doctor`, without changing anything in it. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import pg from "pg";
import { onEvent, type StoreFinding, type StoreOpening } from "service-gateway/sdk/store";
import { commandConnectMs, parseAddress } from "../pool.ts";
import { readFacts } from "./facts.ts";
import { clockFindings, findingsOf, notificationFindings } from "./findings.ts";

/** Only this check sends to the channel. */
const channel = "service_gateway_check";
const notifyMs = 1_000;

/**
 * A database that cannot be reached has no findings: opening it fails for the same reason, and the doctor reports that.
 */
export async function checkDatabase({ url, now }: StoreOpening): Promise<readonly StoreFinding[]> {
  const { connection, listening, schema } = parseAddress(url, "service-gateway-check", commandConnectMs);
  const [client, listener] = [new pg.Client(connection), new pg.Client(listening)];
  for (const each of [client, listener]) onEvent(each, "error", { source: "the database", handle() {} });
  try {
    try {
      await Promise.all([client.connect(), listener.connect()]);
    } catch {
      return [];
    }
    const facts = await readFacts(client, schema);
    const aheadMs = await clockDifference(client, now);
    const arrived = await canListen(client, listener);
    const found = [
      ...findingsOf(facts, { schema, at: now() }),
      ...clockFindings(aheadMs),
      ...notificationFindings(arrived),
    ];
    if (found.length > 0) return found;
    const reason =
      `PostgreSQL ${facts.version} has what the store needs: privileges, safe settings, ` +
      "notifications and the same time";
    return [{ verdict: "ok", reason }];
  } finally {
    await Promise.allSettled([client.end(), listener.end()]);
  }
}

/**
 * Milliseconds by which this machine's clock is ahead. The database reads its clock about halfway between the two
 * readings here.
 */
async function clockDifference(client: pg.Client, now: () => number): Promise<number> {
  const before = now();
  const { rows } = await client.query<{ at: number }>(
    "SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 AS at",
  );
  return (before + now()) / 2 - (rows[0]?.at ?? Number.NaN);
}

/** Whether what one connection sends arrives at another. */
async function canListen(client: pg.Client, listener: pg.Client): Promise<boolean> {
  const payload = randomUUID();
  await listener.query(`LISTEN ${channel}`);
  const signal = AbortSignal.timeout(notifyMs);
  const arrived = (async () => {
    for (;;) {
      const [message] = (await once(listener, "notification", { signal })) as [pg.Notification];
      if (message.payload === payload) return true;
    }
  })().catch(() => false);
  await client.query("SELECT pg_notify($1, $2)", [channel, payload]);
  return await arrived;
}
