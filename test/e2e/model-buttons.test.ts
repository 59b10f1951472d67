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

const usual = {
  "ollama/small": { alias: "small" },
  "ollama/large": { alias: "large" },
  "ollama/third": {},
  [`ollama/${"x".repeat(60)}`]: {},
  nonsense: {},
};

async function open({ channel = {}, models = usual }: { readonly channel?: object; readonly models?: object } = {}) {
  const host = await createTestHost({
    answer: ({ inbound, model }) => (inbound.text === "offer" ? withButton("/model large") : `${model}: heard`),
    config: {
      agents: {
        defaults: {
          engine: "test-engine",
          model: "ollama/small",
          models,
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
  const { host, last } = await open({
    channel: { groupPolicy: "allowlist", groupAllowFrom: ["ada"], groups: { "*": {} } },
  });
  const inGroup = { ...ada, group: true, chat: "club", mention: true };
  await host.say("/model", inGroup);
  const before = host.outbox().length;
  const { outcome } = await host.press("large", { from: "stranger", group: true, chat: "club" });
  expect(outcome).toBe("refused");
  expect(host.outbox().length).toBe(before);
  await host.say("hello", inGroup);
  expect(last()?.text).toBe("ollama/small: heard");
});

const labelsOf = (rows: readonly (readonly { readonly text: string }[])[] = []) => rows.flat().map(({ text }) => text);

test.concurrent.each([9, 40])("%i aliases have a button each, up to twelve, and the text has all", async (count) => {
  const aliases = Array.from({ length: count }, (_, at) => `m${at}`);
  const { host, last } = await open({
    // A model without an alias does not take the place of one with an alias.
    models: { "ollama/plain": {}, ...Object.fromEntries(aliases.map((alias) => [`ollama/${alias}`, { alias }])) },
  });
  await host.say("/model", ada);
  expect(labelsOf(last()?.buttons)).toEqual([...aliases, "ollama/plain"].slice(0, 12));
  expect(last()?.text).toContain(`\`ollama/${aliases.at(-1)}\` (\`${aliases.at(-1)}\`)`);
  expect(last()?.text.includes("also one without a button below")).toBe(count > 12);
  await host.press("m7", ada);
  expect(last()?.text).toBe("This conversation now uses `ollama/m7`.");
});

test.concurrent("a button means its own model, also where the alias is that of another one", async () => {
  const models = {
    "ollama/small": { alias: "fast" },
    "ollama/large": { alias: "FAST" },
    "ollama/third": { alias: "default" },
    "ollama/fourth": { alias: "the fourth" },
  };
  const { host, last } = await open({ models });
  expect((await host.problems()).map(({ path, message }) => `${path} ${message}`)).toEqual([
    'agents.defaults.models.ollama/large.alias is "FAST", which means ollama/small',
    'agents.defaults.models.ollama/third.alias is "default", which means the model of the agent',
  ]);
  await host.say("/model", ada);
  const labels = ["fast", "ollama/large", "ollama/third", "ollama/fourth"];
  expect(labelsOf(last()?.buttons)).toEqual(labels);
  for (const [index, label] of labels.entries()) {
    await host.say("/model", ada);
    await host.press(label, ada);
    expect(last()?.text).toBe(`This conversation now uses \`${Object.keys(models)[index]}\`.`);
  }
});

test.concurrent("a button of an older message works after a restart, and waits for a running turn", async () => {
  const { host, last } = await open();
  await host.say("/model", ada);
  await host.restart({ killed: true });
  await host.press("large", ada);
  expect(last()?.text).toBe("This conversation now uses `ollama/large`.");
  const running = host.say("wait", ada);
  const pressed = host.press("small", ada);
  await Promise.all([running, pressed]);
  const texts = host.outbox().map(({ text }) => text);
  expect(texts.slice(-2)).toEqual(["ollama/large: heard", "This conversation now uses `ollama/small`."]);
});

test.concurrent("one allowed model needs no button", async () => {
  const { host, last } = await open();
  await host.configure({ agents: { defaults: { models: ["ollama/small"] } } });
  await host.say("/model", ada);
  expect(last()?.buttons).toEqual([]);
});
