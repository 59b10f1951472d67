/** An apology for an answer that could not be delivered, over the death of the process. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Part } from "../../../core/contract/types.ts";
import type { OutboxRow } from "../../../core/state/outbox-row.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import type { Ending, Store } from "../../../core/state/store.ts";
import { createTestHost } from "../../../core/testkit/index.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";

const address = { channel: "loopback", account: "default", chat: "7" };
const lane = "loopback:default:7";
const answered: Ending = { outcome: "answered", reason: "answered" };

let directory: string;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(() => removeDirectory(directory));

async function say(store: Store, text: string, ending: Ending): Promise<OutboxRow> {
  const part: Part = { kind: "text", chars: text.length, body: { text, buttons: [], media: [] } };
  const rows = [{ address, operation: "send" as const, part }];
  const [row] = await store.say({ unitId: "e", at: 1, rows, first: "waiting", ending });
  return row ?? expect.fail("no row");
}

/** What a process leaves that was killed after the platform had refused its answer for good. */
async function leave(then?: (store: Store) => Promise<unknown>): Promise<void> {
  const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
  await store.begin(1);
  const person = { chat: { id: "7", kind: "direct" }, sender: { id: "7" }, media: [], mention: false, timestamp: 1 };
  const body = { kind: "message", text: "hello", ...person };
  const event = { source: "loopback", kind: "update", account: "default", lane, authority: "channel" as const, body };
  await store.accept({ event, id: "e", at: 1 });
  await store.claim(lane, { now: 1, limit: 10 });
  await store.unsendable((await say(store, "the answer", answered)).id, { at: 1, reason: "media_refused" });
  await then?.(store);
  await store.close();
}

async function nextStart(): Promise<readonly string[]> {
  await using host = await createTestHost({ directory });
  expect(await host.settled("e")).toMatchObject({ outcome: "failed", reason: "media_refused" });
  return host.outbox().map(({ text }) => text);
}

const failed: Ending = { outcome: "failed", reason: "media_refused" };

test("an apology that was not yet written when the process was killed is sent by the next process", async () => {
  await leave();
  expect(await nextStart()).toEqual([expect.stringContaining("could not be delivered")]);
});

test("an apology written but not sent before a kill is the only one that the next process sends", async () => {
  await leave((store) => say(store, "sorry", failed));
  expect(await nextStart()).toEqual(["sorry"]);
});

test("an apology that was being sent at a kill is not sent again, because it may have arrived", async () => {
  await leave(async (store) => store.sending((await say(store, "sorry", failed)).id));
  expect(await nextStart()).toEqual([]);
});

test("an apology that was sent before a kill is not sent again", async () => {
  await leave(async (store) => store.sent((await say(store, "sorry", failed)).id, { messageId: "m9" }, { at: 1 }));
  expect(await nextStart()).toEqual([]);
});
