/** What is gone from the file of the database after a removal, beyond what the store itself can be asked for. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { start } from "../../../core/testkit/store/fixture.ts";
import { modelCall } from "../../../core/testkit/store/model-calls.ts";
import { temporaryDirectory } from "../../support/directory.ts";

test("deleting a session removes its key from all model calls in the ledger", async () => {
  const directory = temporaryDirectory();
  const store = await openSqliteStore({ directory, now: () => start });
  const sessionKey = "agent:main:dm:1001";
  await store.recordCall(modelCall("a", { sessionKey, channel: "hooks", purpose: "webhook" }));
  await store.recordCall(modelCall("b", { sessionKey, channel: "botchat", sender: "1001" }));
  await store.recordCall(modelCall("c", { sessionKey: "agent:main:main" }));
  await store.deleteSession(sessionKey);
  await store.close();
  const database = new DatabaseSync(join(directory, "state.db"), { readOnly: true });
  expect(database.prepare("SELECT session_key FROM model_calls ORDER BY id").all()).toEqual([
    { session_key: null },
    { session_key: null },
    { session_key: "agent:main:main" },
  ]);
  database.close();
});
