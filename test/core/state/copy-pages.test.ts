import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { copyReads } from "../../../core/state/sqlite/copying/reads.ts";
import { createStatements, type Statements } from "../../../core/state/sqlite/database/statements.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { newEvent, start, take } from "../../../core/testkit/store/fixture.ts";
import { newDirectory } from "./directory.ts";

test("reading a long transcript page by page follows its chain once, not once per page", async () => {
  const directory = await newDirectory();
  const store = await openSqliteStore({ directory, now: () => start });
  onTestFinished(() => store.close());
  await store.begin(start);
  const count = 2_000;
  const messages = Array.from({ length: count }, (_, index) => ({
    role: "user" as const,
    content: String(index),
    at: start,
  }));
  await store.accept(newEvent("long"));
  await take(store);
  const ending = { outcome: "answered", reason: "sent" } as const;
  await store.say({ unitId: "long", at: start, rows: [], ending, transcript: { sessionKey: "s", messages } });

  const db = new DatabaseSync(join(directory, "state.db"), { readOnly: true });
  onTestFinished(() => db.close());
  let rowsRead = 0;
  const inner = createStatements(db);
  const counting: Statements = {
    ...inner,
    all<Row>(text: string, ...values: readonly SQLInputValue[]) {
      const rows = inner.all<Row>(text, ...values);
      rowsRead += rows.length;
      return rows;
    },
  };
  const reads = copyReads(counting);
  const contents: string[] = [];
  let after: Parameters<typeof reads.copyRows>[1]["after"] = null;
  for (;;) {
    const { rows, next } = reads.copyRows("message", { after, rows: 50, characters: 1_000_000 });
    if (next === null) break;
    contents.push(...rows.map(({ content }) => String(JSON.parse(String(content)))));
    after = next;
  }
  expect(contents).toEqual(messages.map(({ content }) => content));
  expect(rowsRead).toBeLessThan(2 * count);
});
