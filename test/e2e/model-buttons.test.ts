/** The buttons below the list of `/model`: people who may use the command choose a model with a press. */
import type { TurnEvent } from "service-gateway/sdk";
import { createTestHost } from "service-gateway/testkit";
import { aroundEach, test } from "vitest";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";

aroundEach(inOwnTest);

async function* withButton(value: string): AsyncGenerator<TurnEvent> {
  yield { type: "text", delta: "Choose." };
  yield { type: "buttons", buttons: [[{ text: "Show the weather", value }]] };
  yield { type: "done" };
}

async function open(channel: object = {}) {
  const host = await createTestHost({
    answer: ({ inbound, model }) => (inbound.text === "offer" ? withButton("/model large") : `${model}: heard`),
    config: {
      agents: {
        defaults: {
          engine: "test-engine",
          model: "ollama/small",
          models: {
            "ollama/small": { alias: "small" },
            "ollama/large": { alias: "large" },
            "ollama/third": {},
            [`ollama/${"x".repeat(60)}`]: {},
            nonsense: {},
          },
        },
      },
      channels: { loopback: { dmPolicy: "allowlist", allowFrom: ["ada"], ...channel } },
    },
  });
  onTestFinished(() => host.close());
  const last = () => host.outbox().at(-1);
  return { host, last };
}

const ada = { from: "ada" };

test.concurrent("they have the aliases, or the names that fit, and a mark at the one in use", async () => {
  const { host, last } = await open();
  await host.say("/model", ada);
  const labels = last()?.buttons.map((row) => row.map(({ text }) => text));
  expect(labels).toEqual([["small", "large"], ["ollama/third"]]);
  await host.press("large", ada);
  expect(last()?.text).toBe("This conversation now uses `ollama/large`.");
  await host.say("hello", ada);
  expect(last()?.text).toBe("ollama/large: heard");
  await host.say("/model", ada);
  expect(
    last()
      ?.buttons.flat()
      .map(({ text }) => text),
  ).toEqual(["small", "✓ large", "ollama/third"]);
});

test.concurrent("a button of the agent with the same value chooses nothing", async () => {
  const { host, last } = await open();
  await host.say("/model", ada);
  await host.say("offer", ada);
  await host.press("Show the weather", ada);
  expect(last()?.text).toBe("That button is not one of a list that /model has sent lately. Send /model for a new one.");
  await host.say("hello", ada);
  expect(last()?.text).toBe("ollama/small: heard");
});

test.concurrent("a person who may not use the command chooses nothing in a group", async () => {
  const { host, last } = await open({ groupPolicy: "allowlist", groupAllowFrom: ["ada"], groups: { "*": {} } });
  const inGroup = { ...ada, group: true, chat: "club", mention: true };
  await host.say("/model", inGroup);
  const before = host.outbox().length;
  const { outcome } = await host.press("large", { from: "stranger", group: true, chat: "club" });
  expect(outcome).toBe("refused");
  expect(host.outbox().length).toBe(before);
  await host.say("hello", inGroup);
  expect(last()?.text).toBe("ollama/small: heard");
});

test.concurrent("one allowed model needs no button", async () => {
  const { host, last } = await open();
  await host.configure({ agents: { defaults: { models: ["ollama/small"] } } });
  await host.say("/model", ada);
  expect(last()?.buttons).toEqual([]);
});
