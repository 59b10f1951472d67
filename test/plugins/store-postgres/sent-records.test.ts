/** A message counts as sent as soon as its record was asked for, whichever answer of the database comes first. */
import { expect, test } from "vitest";
import { outboxReads } from "../../../plugins/store-postgres/outbox.ts";
import type { Database } from "../../../plugins/store-postgres/pool.ts";
import { createSentRecords } from "../../../plugins/store-postgres/sent-records.ts";

const where = { channel: "chat", account: "default", chat: "ada", messageId: "m1" };

test("a record that is committed just after the query is found", async () => {
  const records = createSentRecords();
  const committed = Promise.withResolvers<void>();
  const write = records.during(committed.promise);
  let asked = 0;
  const query = async () => {
    asked += 1;
    if (asked > 1) return [{ unit_id: "a", thread: null }];
    committed.resolve();
    await write;
    return [];
  };
  const { findSent } = outboxReads({ query } as unknown as Database, Date.now, records);
  expect(await findSent(where)).toEqual({ unitId: "a" });
});

test("the database is queried once if no record is being written", async () => {
  let asked = 0;
  const query = async () => {
    asked += 1;
    return [];
  };
  const { findSent } = outboxReads({ query } as unknown as Database, Date.now, createSentRecords());
  expect({ found: await findSent(where), asked }).toEqual({ found: null, asked: 1 });
});
