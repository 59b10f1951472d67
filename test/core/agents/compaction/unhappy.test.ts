/** Summaries that fail, break off, come twice, or are longer than they should be. */
import { expect, test } from "vitest";
import { EngineError } from "../../../../core/contract/plugin-errors.ts";
import { estimateTokens, measureText } from "../../../../core/sdk/contract.ts";
import { asked, type Complete, gateway, openStore, room, turn } from "./gateway.ts";

const turnsIn = (text: string): readonly number[] => [...text.matchAll(/turn (\d+):/g)].map(([, n]) => Number(n));

/** Writes the numbers of the turns that it has read, after those of the summary so far. */
const listing =
  (onAsked: (text: string, calls: number) => void = () => {}, calls = { count: 0 }): Complete =>
  async ({ text }) => {
    calls.count += 1;
    onAsked(text, calls.count);
    return { text: [...new Set(turnsIn(text))].map((n) => `turn ${n}:`).join(" "), model: "a/b" };
  };

const range = (until: number) => Array.from({ length: until }, (_, index) => index + 1);

test("what is summarized before the budget is used up stays, and is not paid for again", async () => {
  const store = await openStore(30);
  const texts: string[] = [];
  const used = new EngineError("budget_exceeded", { detail: "budget.perDayTokens: 1,000 of 1,000 tokens are used" });
  let mayPay = 2;
  const { now } = gateway(
    store,
    listing((text) => {
      if (mayPay === 0) throw used;
      mayPay -= 1;
      texts.push(text);
    }),
  );
  const first = await now(asked);
  expect(first).toMatchObject({ brokenOff: used, messages: expect.any(Number) });
  const { summary } = await store.conversation("a");
  const read = turnsIn(texts.join("\n"));
  expect(turnsIn(summary?.text ?? "")).toEqual(range(Math.max(...read)));
  expect(summary?.messages).toBe(2 * Math.max(...read));
  await expect(now(asked)).rejects.toBe(used);
  mayPay = 10;
  await now(asked);
  // Each message is in one request.
  const shown = texts.flatMap((text) => turnsIn(text.replace(/the summary so far, of earlier messages\]\n.*\n/, "")));
  expect(new Set(shown).size).toBe(shown.length);
  expect(await store.summaries("a")).toHaveLength(2);
});

test("after failures behind the turn, each further attempt waits twice as long", async () => {
  const store = await openStore();
  let at = 0;
  let calls = 0;
  const fails: Complete = async () => {
    calls += 1;
    throw new EngineError("model_empty");
  };
  const { after, warnings } = gateway(store, fails, { now: () => at });
  const minute = 60_000;
  for (const [minutes, count] of [
    [0, 1],
    [4, 1],
    [6, 2],
    [15, 2],
    [17, 3],
    [36, 3],
    [38, 4],
  ] as const) {
    at = minutes * minute;
    after(turn);
    await new Promise((resolve) => setTimeout(resolve, 15));
    await expect.poll(() => calls, { interval: 2 }).toBe(count);
    await expect.poll(() => warnings.length, { interval: 2 }).toBe(count);
  }
});

test("of two requests at once, one pays for the summary", async () => {
  const store = await openStore();
  const calls = { count: 0 };
  const { now } = gateway(store, listing(undefined, calls));
  const [one, two] = await Promise.all([now(asked), now(asked)]);
  expect([typeof one, two]).toEqual(["object", "nothing"]);
  const alone = calls.count;
  expect(await store.summaries("a")).toHaveLength(1);
  expect(alone).toBeLessThan(4);
});

test("a summary takes at most a quarter of the context, however much the model writes", async () => {
  const store = await openStore();
  const { now } = gateway(store, async () => ({ text: `BEGIN ${"words of it ".repeat(20_000)} END`, model: "a/b" }));
  await now(asked);
  const { summary } = await store.conversation("a");
  expect(estimateTokens(room, measureText(summary?.text ?? ""))).toBeLessThanOrEqual(room.tokens / 4);
  expect(summary?.text).toMatch(/^BEGIN [\s\S]* characters are left out here[\s\S]* END$/);
});

test("a part that is too long for one go is covered from its beginning, and the next go continues", async () => {
  const store = await openStore(80);
  const { now } = gateway(store, listing());
  const counts: number[] = [];
  for (let go = 0; go < 5; go += 1) {
    const done = await now(asked);
    if (typeof done === "string") break;
    counts.push(done.messages);
    const { summary, messages } = await store.conversation("a");
    expect(turnsIn(summary?.text ?? "")).toEqual(range((summary?.messages ?? 0) / 2));
    expect((summary?.messages ?? 0) + messages.length).toBe(160);
  }
  expect(counts.length).toBeGreaterThan(1);
});

test("a request that the server refuses as too long is made once more, with what is known then", async () => {
  const store = await openStore();
  let calls = 0;
  const { now } = gateway(store, async () => {
    calls += 1;
    if (calls === 1) throw new EngineError("message_too_long");
    return { text: "a summary", model: "a/b" };
  });
  expect(await now(asked)).toMatchObject({ messages: expect.any(Number) });
  const refusing = gateway(await openStore(), async () => {
    calls += 1;
    throw new EngineError("message_too_long");
  });
  calls = 0;
  await expect(refusing.now(asked)).rejects.toMatchObject({ reason: "model_context_full" });
  expect(calls).toBe(2);
});

test("what a killed node has begun, another one does; what a living one does, it does alone", async () => {
  const store = await openStore();
  const never: Complete = (_, __, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const killed = gateway(store, never, { node: "one", alive: ["one", "two"] });
  void killed.now(asked).catch(() => {});
  await expect.poll(() => store.get("compactions", "a")).toMatchObject({ node: "one" });
  const beside = gateway(store, listing(), { node: "two", alive: ["one", "two"] });
  expect(await beside.now(asked)).toBe("elsewhere");
  const after = gateway(store, listing(), { node: "two", alive: ["two"] });
  expect(await after.now(asked)).toMatchObject({ messages: expect.any(Number) });
  expect([await store.summaries("a"), await store.get("compactions", "a")]).toMatchObject([[{}], null]);
});

test("a node whose claim another one has taken stops before its next request, and leaves the claim", async () => {
  const store = await openStore();
  const calls = { count: 0 };
  const other = { node: "two", id: "of two" };
  const one = gateway(
    store,
    async (request, by, signal) => {
      await store.set("compactions", "a", other);
      return await listing(undefined, calls)(request, by, signal);
    },
    { node: "one", alive: ["one", "two"] },
  );
  expect(await one.now(asked)).toBe("elsewhere");
  expect([calls.count, await store.summaries("a"), await store.get("compactions", "a")]).toEqual([1, [], other]);
});
