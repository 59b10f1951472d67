/** What the models took, as an operator reads it. */
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import type { TurnEvent } from "../../core/sdk/contract.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";

async function* speak(text: string, ...models: readonly string[]): AsyncGenerator<TurnEvent> {
  for (const model of models) yield { type: "usage", inputTokens: 1_000, outputTokens: 20, model };
  if (text.includes("break")) throw new Error("the model broke off");
  yield { type: "text", delta: `heard ${text}` };
  yield { type: "done" };
}

test("usage shows the tokens by agent and model, including failed turns and each model of a turn", async () => {
  const host = await createTestHost({
    answer: ({ inbound, agentId }) =>
      speak(
        inbound.text,
        ...(agentId === "writer"
          ? ["acme/large"]
          : inbound.text === "both"
            ? ["acme/small", "acme/large"]
            : ["acme/small"]),
      ),
    config: {
      agents: { list: [{ id: "main", default: true }, { id: "writer" }] },
      bindings: [{ agentId: "writer", match: { channel: "loopback", peer: { kind: "direct", id: "8" } } }],
    },
  });
  onTestFinished(() => host.close());
  const command = async (...args: readonly string[]) =>
    await run(["usage", ...args, "--config", host.configFile], { home: temporaryHome() });
  expect((await command()).out).toMatch(/^No model was called since \d{4}-/);
  await host.say("hello");
  await host.say("break off");
  await host.say("both");
  await host.say("a letter", { from: "8" });
  const { code, out } = await command("--since", "1h");
  expect({
    code,
    lines: out
      .trimEnd()
      .split("\n")
      .map((line) => line.trim().split(/ {2,}/)),
  }).toEqual({
    code: 0,
    lines: [
      [expect.stringMatching(/^Since \d{4}-.*:$/)],
      ["agent", "model", "calls", "input tokens", "output tokens", "cost"],
      ["main", "acme/small", "3", "3000", "60", "unknown"],
      ["main", "acme/large", "1", "1000", "20", "unknown"],
      ["writer", "acme/large", "1", "1000", "20", "unknown"],
      ["total", "5", "5000", "100", "unknown"],
      ["The price of some models is unknown: set models.prices for them."],
    ],
  });
  expect(JSON.parse((await command("--json")).out)).toMatchObject({
    usage: [
      {
        agentId: "main",
        model: "acme/small",
        calls: 3,
        inputTokens: 3_000,
        outputTokens: 60,
        usd: 0,
        unpricedCalls: 3,
      },
      {},
      {},
    ],
    total: { calls: 5, inputTokens: 5_000, outputTokens: 100 },
  });
  expect((await command("--since", "soon")).code).toBe(2);
});
