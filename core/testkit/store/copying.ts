/** Rules for copies of a whole state, for stores that offer them. */
import { expect, type TestContext, test } from "vitest";
import { type Copying, type CopyRow, copyKinds, copyNamespace, copyRecordKey, type Store } from "../../state/index.ts";
import { copyState } from "../../stores/index.ts";
import {
  acceptAll,
  answered,
  decision,
  newEvent,
  type StoreContractOptions,
  say,
  settle,
  start,
  take,
} from "./fixture.ts";
import { modelCall } from "./model-calls.ts";

type OpenOptions = Pick<StoreContractOptions, "open" | "reopen">;

interface Pair {
  readonly source: Store;
  readonly target: Store;
  readonly from: Copying;
  readonly to: Copying;
}

const noted = { source: "another", kind: "counter", after: null } as const;

export function copyingRules({ open, reopen }: OpenOptions): void {
  const now = () => start;
  const withPair = (run: (pair: Pair) => Promise<void>) => async (context: TestContext) => {
    const stores = [await open({ now }), await open({ now })] as const;
    const [source, target] = stores;
    try {
      const [from, to] = [source.copying, target.copying];
      if (from === undefined || to === undefined) return context.skip("The store offers no copies.");
      await source.begin(start);
      await fill(source);
      await source.begin(start);
      await run({ source, target, from, to });
    } finally {
      for (const store of stores) await store.close();
    }
  };
  const copied = (source: Store, target: Store) =>
    copyState({ source, target, shown: "the target", newId: () => "the source" });

  test(
    "a copy contains every row of the source, and work goes on there",
    withPair(async ({ source, target, from, to }) => {
      const { counts } = await copied(source, target);
      expect(Object.entries(counts).filter(([, count]) => count === 0)).toEqual([]);
      expect(await to.counts()).toEqual(counts);
      expect(await rowsOf(to)).toEqual(await rowsOf(from));
      await target.begin(start);
      expect(await target.stats()).toEqual(await source.stats());
      expect(await target.usage({ since: 0 })).toEqual(await source.usage({ since: 0 }));
      const first = { generation: 0 };
      expect(await target.conversation("session", first)).toEqual(await source.conversation("session", first));
      for (const generation of [0, 1])
        expect(await target.transcript("session", { generation })).toEqual(
          await source.transcript("session", { generation }),
        );
      const delivered = await take(target, "said");
      expect([delivered.stage, delivered.attempts]).toEqual(["delivery", 2]);
      expect(await target.unsent("said")).toMatchObject([
        { part: { body: { text: "one" } }, state: "sending" },
        { state: "waiting" },
      ]);
      expect((await take(target, "ran")).attempts).toBe(2);
      expect(await target.accept(newEvent("again", { dedupeKey: "key" }))).toMatchObject({
        eventId: "keyed",
        duplicate: true,
      });
      await target.accept(newEvent("new", { lane: "waits" }));
      await settle(target, (await take(target, "waits")).id);
      expect((await take(target, "waits")).id).toBe("new");
      await say(target, "new", ["later"], [{ role: "user", content: "last", at: start }]);
      expect((await target.transcript("session")).at(-1)?.content).toBe("last");
    }),
  );

  test(
    "a copy that stops after any batch continues, and repeats nothing",
    withPair(async ({ source, target, from, to }) => {
      let batches = 0;
      const stopping: Store = {
        ...target,
        get: target.get,
        copying: {
          ...to,
          async write(kind, rows, record) {
            await to.write(kind, rows, record);
            await to.write(kind, rows, record);
            batches += 1;
            throw new Error("killed");
          },
        },
      };
      while (batches < 100) {
        const ended = await copied(source, stopping).then(
          () => true,
          (error: Error) => error.message !== "killed",
        );
        if (ended) break;
        await expect(target.begin(start)).rejects.toMatchObject({ code: "state_copy_unfinished" });
      }
      expect(batches).toBeGreaterThan(copyKinds.length - 1);
      expect(await rowsOf(to)).toEqual(await rowsOf(from));
      expect(await target.get(copyNamespace, copyRecordKey)).toBeNull();
      expect(await target.usage({ since: 0 })).toEqual(await source.usage({ since: 0 }));
    }),
  );

  test(
    "a changed text in the copy is noticed, and the copy stays unfinished",
    withPair(async ({ source, target, to }) => {
      const changing: Store = {
        ...target,
        copying: {
          ...to,
          write: (kind, rows, record) =>
            to.write(kind, kind === "message" ? rows.map((row) => ({ ...row, content: '"changed"' })) : rows, record),
        },
      };
      await expect(copied(source, changing)).rejects.toMatchObject({
        code: "state_copy_differs",
        details: {
          reason: expect.stringMatching(/^message has the same \d+ rows, but not the same content$/) as string,
        },
      });
      await expect(target.begin(start)).rejects.toMatchObject({ code: "state_copy_unfinished" });
    }),
  );

  test(
    "only an empty store becomes a target, and rows are written only to a target",
    withPair(async ({ target, from, to }) => {
      expect(await from.begin(noted)).toBe(false);
      await expect(to.write("counter", [], noted)).rejects.toThrow("not the target");
      await expect(to.finish()).rejects.toThrow("not the target");
      expect(await to.begin(noted)).toBe(true);
      expect(await to.begin(noted)).toBe(false);
      const again = await reopen(target, { now });
      try {
        await expect(again.begin(start)).rejects.toMatchObject({ code: "state_copy_unfinished" });
      } finally {
        await again.close();
      }
    }),
  );
}

/** Events in every state, and a row of each kind. */
async function fill(store: Store): Promise<void> {
  await acceptAll(
    store,
    newEvent("waits", { lane: "waits" }),
    newEvent("gathered", { lane: "waits", gather: { key: "together", due: null } }),
    newEvent("keyed", { lane: "keyed", dedupeKey: "key", dedupeUntil: start + 1_000, fingerprint: "print" }),
    newEvent("said", { lane: "said" }),
    newEvent("ran", { lane: "ran" }),
    newEvent("refused", {
      lane: "refused",
      settled: { outcome: "refused", reason: "no", decisions: [decision("no")] },
    }),
  );
  const ends = await take(store, "keyed");
  await say(
    store,
    ends.id,
    ["sent"],
    [
      { role: "user", content: { text: 'first "\u{1F600}"' }, at: start },
      { role: "assistant", content: "second", at: start },
    ],
  );
  const { messages } = await store.conversation("session");
  await store.addSummary("session", {
    ...{ generation: 0, after: null, until: messages[0]?.id ?? 0, messages: 1 },
    ...{ text: "what was said first", model: "m", at: start },
  });
  const [row] = await store.unsent(ends.id);
  const usage = [{ inputTokens: 3, outputTokens: 4, model: "m" }];
  const decisions = [{ ...decision("usage"), sender: "7", detail: "d", usage }];
  const sent = { rowId: row?.id ?? 0, receipt: { messageId: "11", messageIds: ["11", "12"] }, at: start };
  await store.settle({ unitId: ends.id, at: start, ...answered, agentId: "main", reply: "sent", decisions, sent });
  await store.updateSession("session", { agentId: "main", at: start, settings: { model: "m" }, newGeneration: true });
  await store.updateSession("old", {
    agentId: "main",
    at: start,
    lastRecipient: { channel: "chat", account: "default", chat: "7" },
  });
  await take(store, "said");
  await say(store, "said", ["one", "two"], [{ role: "user", content: "third", at: start }]);
  await take(store, "ran");
  await store.setPreview("ran", { address: { channel: "chat", account: "default", chat: "7" }, messageIds: ["5"] });
  await store.recordCall(modelCall("call", { sender: "7", usd: 0.125, priceSource: "list", estimated: true }));
  await store.set("n", "k", { list: [1, "two", null] }, { expiresAt: start + 1_000 });
  await store.set("n", "a\u{1F600}", "value");
  await acceptAll(store, newEvent("gone", { settled: { outcome: "silent", reason: "nothing" } }));
  await store.accept(newEvent("newest", { lane: "newest" }));
  await store.removeEvents(["gone"]);
}

async function rowsOf(copying: Copying): Promise<Readonly<Record<string, readonly CopyRow[]>>> {
  const read: Record<string, readonly CopyRow[]> = {};
  for (const kind of copyKinds) {
    const found: CopyRow[] = [];
    let after: Parameters<Copying["read"]>[1]["after"] = null;
    for (;;) {
      const { rows, next } = await copying.read(kind, { after, rows: 2, characters: 100 });
      if (next === null) break;
      found.push(...rows);
      after = next;
    }
    read[kind] = found;
  }
  return read;
}
