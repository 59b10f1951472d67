import { expect, test } from "vitest";
import { createMeter, type MeterOptions } from "../../../../core/agents/spending/meter.ts";

test("recording the end of a call never rejects, even while the store closes", async () => {
  const lost: string[] = [];
  const closed = async () => {
    throw new Error("the store is closed");
  };
  const limit = { refusesUnpriced: false, unit: "tokens" };
  const options = {
    limits: { run: undefined },
    applied: async () => [limit],
    price: async () => ({ usd: null, source: "unknown" }),
    reserve: async () => null,
    record: closed,
    release: closed,
    onRefused: closed,
    onLost: (model: string, error: unknown) => lost.push(`${model}: ${String(error)}`),
    now: () => 1,
    newId: () => String(lost.length),
  } as unknown as MeterOptions;
  const { spending } = createMeter({ agentId: "main", purpose: "turn" } as never, options);
  for (const used of [null, { inputTokens: 1, outputTokens: 1 }]) {
    const { id } = await spending.begin({ model: "acme/small", inputTokens: 1 });
    await spending.end(id, used);
  }
  expect(lost).toEqual(Array(2).fill("acme/small: Error: the store is closed"));
});
