import { expect, test } from "vitest";
import { createModelRooms } from "../../../../core/agents/context/model-rooms.ts";
import type { Json } from "../../../../core/contract/types.ts";
import { type EngineProvider, measureText } from "../../../../core/sdk/contract.ts";

const day = 24 * 3_600_000;
const sizes = measureText("the quick brown fox jumps over the lazy dog ".repeat(1_000));

function open() {
  const stored = new Map<string, Json>();
  const clock = { now: 1_000 };
  const warnings: unknown[] = [];
  const create = () =>
    createModelRooms({
      store: {
        get: async (_, key) => stored.get(key) ?? null,
        async update(_, key, change) {
          const next = change(stored.get(key) ?? null) ?? null;
          stored.set(key, next);
          return next;
        },
      },
      log: { info() {}, warn: (fields) => warnings.push(fields) },
      now: () => clock.now,
    });
  return { rooms: create(), create, clock, warnings };
}

const provider = (more: Partial<EngineProvider> = {}) => ({ p: { api: "openai-compatible" as const, ...more } });
const tokensOf = async (rooms: ReturnType<typeof open>["rooms"], providers: Record<string, EngineProvider>) => {
  const { "p/m": room } = await rooms.of(["p/m"], providers);
  return [room?.tokens, room?.source];
};

test.each([
  ["http://127.0.0.1:11434/v1", 32_000],
  ["http://[::1]:8080/v1", 32_000],
  ["http://192.168.1.4/v1", 32_000],
  ["http://ollama:11434/v1", 32_000],
  ["http://box.local/v1", 32_000],
  ["https://api.acme.example/v1", 128_000],
  ["https://1.1.1.1/v1", 128_000],
])("a model at %s takes %i tokens until more is known", async (baseUrl, tokens) => {
  expect(await tokensOf(open().rooms, provider({ baseUrl }))).toEqual([tokens, "default"]);
});

test("what a refusal named is remembered over restarts, for thirty days", async () => {
  const { rooms, create, clock } = open();
  await rooms.refused({ model: "p/m", sizes, named: 4_096 }, provider());
  expect(await tokensOf(rooms, provider())).toEqual([4_096, "refusal"]);
  expect(await tokensOf(create(), provider())).toEqual([4_096, "refusal"]);
  clock.now += 31 * day;
  expect(await tokensOf(create(), provider())).toEqual([128_000, "default"]);
});

test("the configuration decides, unless the server has contradicted this very setting", async () => {
  const { rooms, warnings } = open();
  const set = (contextTokens: number) => provider({ models: { m: { contextTokens } } });
  expect(await tokensOf(rooms, set(32_000))).toEqual([32_000, "config"]);
  await rooms.refused({ model: "p/m", sizes, named: 4_096 }, set(32_000));
  expect(await tokensOf(rooms, set(32_000))).toEqual([4_096, "refusal"]);
  expect(await tokensOf(rooms, set(16_000))).toEqual([16_000, "config"]);
  expect(warnings).toHaveLength(1);
});

test("a refusal without a number leaves what the server has answered before", async () => {
  const { rooms } = open();
  await rooms.counted({ model: "p/m", sizes, inputTokens: 9_000 }, provider());
  const { tokens } = await rooms.refused({ model: "p/m", sizes: measureText("word ".repeat(20_000)) }, provider());
  expect(tokens).toBe(9_000);
});

test("the list of known models is asked for a long conversation with a provider of the list", async () => {
  const { rooms } = open();
  const providers = { p: { api: "openai" as const } };
  const counted = (inputTokens: number) => rooms.counted({ model: "p/gpt-4.1", sizes, inputTokens }, providers);
  const source = async () => (await rooms.of(["p/gpt-4.1"], providers))["p/gpt-4.1"]?.source;
  await counted(1_000);
  expect(await source()).toBe("default");
  await counted(40_000);
  expect(await source()).toBe("list");
  expect((await rooms.of(["p/gpt-4.1"], providers))["p/gpt-4.1"]?.tokens).toBeGreaterThan(900_000);
});
