import { expect, test } from "vitest";
import { createPrices } from "../../../../core/agents/spending/prices.ts";

const tokens = { inputTokens: 1_000_000, outputTokens: 100_000, cacheRead: 400_000, cacheWrite: 100_000, reasoning: 0 };

const prices = createPrices(() => ({
  models: {
    providers: {
      vendor: { api: "openai" },
      claude: { api: "anthropic", baseUrl: "https://api.anthropic.com/v1" },
      proxy: { api: "openai", baseUrl: "http://127.0.0.1:9/v1" },
      own: { api: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" },
    },
    prices: {
      "vendor/special": { input: 2, output: 10, cacheRead: 0.5, cacheWrite: 4 },
      "own/*": { input: 0, output: 0 },
      "own/large": { input: 1, output: 1 },
    },
  },
}));

test("configured prices come first, a model's before its provider's, and cached tokens have their own price", () => {
  // 0.5 M at 2, 0.4 M at 0.5, 0.1 M at 4, 0.1 M at 10.
  expect(prices.of("vendor/special", tokens)).toEqual({ usd: 2.6, source: "config" });
  expect(prices.of("own/large", tokens)).toEqual({ usd: 1.1, source: "config" });
  expect(prices.of("own/small", tokens)).toEqual({ usd: 0, source: "config" });
});

test("the price list is loaded on demand; a model in neither place or on a custom server has no price", async () => {
  const unknown = { usd: null, source: null };
  expect(prices.of("vendor/gpt-4o-mini", tokens)).toEqual(unknown);
  await prices.load();
  const { usd, source } = prices.of("vendor/gpt-4o-mini", tokens);
  expect({ usd: usd?.toFixed(4), source }).toEqual({
    usd: expect.stringMatching(/^0\.1[5-9]/),
    source: "genai-prices",
  });
  expect(prices.of("claude/claude-sonnet-4-5", tokens).source).toBe("genai-prices");
  for (const model of ["vendor/no-such-model", "proxy/gpt-4o-mini", "other/gpt-4o-mini", "own"])
    expect(prices.of(model, tokens)).toEqual(unknown);
  // Contradicting counts of a server.
  expect(prices.of("vendor/gpt-4o-mini", { ...tokens, cacheRead: 9_000_000 })).toEqual(unknown);
});

test("a call of sound has the price of its minutes, and none without one", () => {
  const none = { inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  const sounds = createPrices(() => ({
    models: {
      providers: { vendor: { api: "openai" } },
      prices: {
        "vendor/listens": { minute: 0.6 },
        "vendor/reads": { input: 1, output: 2 },
        "own/*": { input: 0, output: 0 },
        "vendor/both": { input: 1, output: 2, minute: 0.6 },
      },
    },
  }));
  expect(sounds.of("vendor/listens", none, 30)).toEqual({ usd: 0.3, source: "config" });
  expect(sounds.of("own/listens", none, 30)).toEqual({ usd: 0, source: "config" });
  expect(sounds.of("vendor/both", { ...none, inputTokens: 1_000_000 }, 30)).toEqual({ usd: 1.3, source: "config" });
  for (const model of ["vendor/reads", "vendor/unknown", "other/listens"])
    expect(sounds.of(model, none, 30)).toEqual({ usd: null, source: null });
});
