import { expect, test } from "vitest";
import { asked, gateway, openStore, turn } from "./gateway.ts";

test("of two nodes, one summarizes", async () => {
  const store = await openStore();
  const callers: string[] = [];
  for (const node of ["one", "two"]) {
    const complete = async () => {
      callers.push(node);
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { text: "a summary", model: "a/b" };
    };
    gateway(store, complete, { node, alive: ["one", "two"] }).after(turn);
  }
  await expect.poll(async () => (await store.summaries("a")).length).toBe(1);
  expect([new Set(callers).size, (await store.summaries("a")).length]).toEqual([1, 1]);
});

test("pieces fit half of the context, and each is folded into the summary so far", async () => {
  const store = await openStore();
  const texts: string[] = [];
  const each = gateway(store, async ({ text, maxTokens }) => {
    texts.push(text);
    expect(maxTokens).toBe(1_000);
    return { text: `summary ${texts.length}`, model: "a/b" };
  });
  await each.now(asked);
  expect(texts.length).toBeGreaterThan(1);
  for (const text of texts) expect(text.length).toBeLessThan(2_000 * 4);
  expect(texts[1]).toMatch(/\[[0-9a-f]{8} the summary so far, of earlier messages\]\nsummary 1\n/);
  expect((await store.conversation("a")).summary?.text).toBe(`summary ${texts.length}`);
});

test("words that are erased while the summary is written are not kept in it", async () => {
  const store = await openStore();
  const each = gateway(store, async () => {
    const [message] = await store.messagesAbout({ text: "turn 1: the quick", unitIds: [] });
    const { id = 0, transcript = 0 } = message ?? {};
    await store.editTranscript({ transcript, remove: [], replace: [{ id, content: "[removed]" }] });
    return { text: "what was erased", model: "a/b" };
  });
  expect(await each.now(asked)).toBe("changed");
  expect(await store.summaries("a")).toEqual([]);
});

test("a closing gateway ends the summary that it writes, and waits for no other", async () => {
  const store = await openStore();
  let ended = false;
  const each = gateway(store, (_, __, signal) => {
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => {
      ended = true;
      reject(signal.reason);
    });
    return promise;
  });
  each.after(turn);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await each.close();
  expect([ended, await store.summaries("a")]).toEqual([true, []]);
});
