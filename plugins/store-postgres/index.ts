/** A store in PostgreSQL: several nodes work on the same state. */
import { randomUUID } from "node:crypto";
import { definePlugin } from "service-gateway/sdk";
import { defineStore, type Store, type StoreOpening, storeError } from "service-gateway/sdk/store";
import { checkDatabase } from "./check/check.ts";
import { copyCommands } from "./commands.ts";
import { createCompletion } from "./completion.ts";
import { copyMethods } from "./copying.ts";
import { isCertificateError, reasonOf } from "./failure.ts";
import { keyValueMethods } from "./key-value.ts";
import { migrate } from "./migrations.ts";
import { modelCallMethods } from "./model-calls.ts";
import { createSharedClock } from "./nodes/clock.ts";
import { createLease } from "./nodes/lease.ts";
import { createNodes } from "./nodes/nodes.ts";
import { outboxReads, outboxWrites } from "./outbox.ts";
import { applicationPrefix, commandConnectMs, nodeConnectMs, openDatabase } from "./pool.ts";
import { prune } from "./prune.ts";
import { removalMethods } from "./removals.ts";
import { reportMethods } from "./reports.ts";
import { createRunningUnits } from "./running-units.ts";
import { createSentRecords } from "./sent-records.ts";
import { sessionMethods } from "./sessions.ts";
import { inboxReads, inboxWrites } from "./work.ts";
import { writerChangeMethods } from "./writer-changes.ts";

async function openStore({ url, now, owner, node }: StoreOpening): Promise<Store> {
  const applicationName = `${applicationPrefix}${node}`;
  const connectMs = owner ? nodeConnectMs : commandConnectMs;
  const database = openDatabase(url, applicationName, { connectMs });
  const clock = createSharedClock(database);
  try {
    await migrate(database);
    if (owner) await clock.measure();
  } catch (error) {
    await database.close();
    // A gateway waits for a database that is away, and in vain for a certificate that it does not trust.
    const cause = error instanceof Error ? error.cause : undefined;
    throw isCertificateError(cause) ? storeError("database_unusable", { reason: reasonOf(cause) }, { cause }) : error;
  }
  // A connection of its own, so that no other work delays a renewal.
  const renewals = openDatabase(url, applicationName, { connections: 1 });
  const units = createRunningUnits(randomUUID);
  const nodes = createNodes(database, { node, now, clock, lease: () => lease });
  const lease = createLease(renewals, { node, running: units.ids, onWork: nodes.work, onLost: nodes.lost });
  const parts = { lease, units, sentRecords: createSentRecords(), onWork: nodes.work };
  const completion = createCompletion();
  const methods = {
    ...inboxReads(database, now),
    ...inboxWrites(database, parts),
    ...outboxReads(database, now, parts.sentRecords),
    ...outboxWrites(database, parts),
    ...sessionMethods(database, lease),
    ...reportMethods(database),
    ...modelCallMethods(database),
    ...keyValueMethods(database, now),
    ...removalMethods(database),
    ...writerChangeMethods(database),
    prune: (limits) => prune(database, limits),
  } satisfies Omit<Store, "trouble" | "nodes" | "copying" | "close">;
  return {
    ...completion.guard(methods),
    nodes,
    copying: completion.guard(copyMethods(database)),
    trouble() {
      const reason = database.trouble();
      return reason && `${reason.replace(/\.$/, "")}. Check that the database runs and can be reached.`;
    },
    close: () =>
      completion.close(async () => {
        await nodes.end();
        // Other nodes take over at once. If the database is away, they do so when the lease ends.
        await lease.end().catch(() => {});
        await Promise.all([renewals.close(), database.close()]);
      }),
  };
}

export const postgres = defineStore({
  id: "postgres",
  description: "The state in a PostgreSQL database, which several nodes share",
  open: openStore,
  check: checkDatabase,
  backupCommands: copyCommands,
});

export default definePlugin({
  id: "store-postgres",
  version: "0.1.0",
  host: ">=0.1.0 <1",
  store: postgres,
  setup() {},
});
