/** Tools in the hands of a model, and over a crash: the same call in the same turn is one message. */
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import { EngineError } from "../../core/contract/index.ts";
import type { EngineTurn, Json, TurnEvent } from "../../core/sdk/contract.ts";
import ai from "../../plugins/ai/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import { callTools, say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { answered, answers, openChannel, openPlatform, people } from "./room.ts";

test("a model is offered each enabled tool once, learns how to react, and reads the result of a call", async () => {
  const model = await createOpenAiServer();
  const platform = await openPlatform();
  const host = await createTestHost({
    plugins: [botchat, ai],
    config: {
      agents: { defaults: { model: "local/small" } },
      models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
      channels: {
        botchat: openChannel(platform, {
          streamMode: "off",
          reactionLevel: "extensive",
          actions: { deleteMessage: false },
        }),
      },
    },
  });
  onTestFinished(async () => {
    await host.close();
    await model.close();
  });
  const [ada = 0, bela = 0] = people(platform);
  model.script(
    callTools([
      { name: "send", args: { message: "Looking it up." } },
      { name: "react", args: { emoji: "👍" } },
      { name: "send", args: { to: String(bela), message: "psst" } },
    ]),
    say("Here it is."),
  );
  platform.act.say(ada, ada, "what is it?");
  await answered(platform, ada, "Here it is.");
  const [asked, told] = model.requests;
  expect(asked?.body.tools?.map((tool) => tool.function.name)).toEqual(["send", "edit", "react", "attach", "buttons"]);
  expect(JSON.stringify(asked?.body.messages[0])).toContain("React with an emoji whenever");
  const results = (told?.body.messages ?? []).flatMap((one) =>
    one.role === "tool" ? [JSON.parse(String(one.content)) as Json] : [],
  );
  expect(results).toEqual([
    { ok: true, messageId: expect.any(String), chatId: String(ada) },
    { ok: true },
    {
      ok: false,
      code: "recipient_not_allowed",
      error: expect.stringContaining("channels.botchat.allowFrom does not name"),
    },
  ]);
  expect(answers(platform, ada)).toEqual(["Looking it up.", "Here it is."]);
});

test("a turn that reruns after a stop sends nothing twice, and its tools return the same results", async () => {
  const platform = await openPlatform();
  const results: Json[] = [];
  async function* run(turn: EngineTurn, signal: AbortSignal): AsyncGenerator<TurnEvent> {
    const send = turn.tools.find(({ name }) => name === "send");
    results.push((await send?.run({ message: "on my way" }, signal)) ?? null);
    // The first gateway stops while the agent still thinks.
    if (results.length === 1)
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    yield { type: "text", delta: "there" };
    yield { type: "done" };
  }
  const host = await createTestHost({
    plugins: [botchat],
    answer: run,
    config: { gateway: { drainSeconds: 0 }, channels: { botchat: openChannel(platform, { streamMode: "off" }) } },
  });
  onTestFinished(() => host.close());
  const [ada = 0] = people(platform);
  platform.act.say(ada, ada, "where are you?");
  await expect.poll(() => results.length).toBe(1);
  await host.restart();
  await answered(platform, ada, "there");
  expect(answers(platform, ada)).toEqual(["on my way", "there"]);
  expect(results[0]).toMatchObject({ ok: true, messageId: expect.any(String) });
  expect(results[1]).toEqual(results[0]);
});

test("a stopping gateway does not wait for a tool whose platform is down; its message is sent once", async () => {
  const platform = await openPlatform();
  const results: Json[] = [];
  const host = await createTestHost({
    plugins: [botchat],
    async answer(turn, signal) {
      results.push((await turn.tools.find(({ name }) => name === "send")?.run({ message: "later" }, signal)) ?? null);
      return "NO_REPLY";
    },
    config: { gateway: { drainSeconds: 60 }, channels: { botchat: openChannel(platform, { streamMode: "off" }) } },
  });
  onTestFinished(() => host.close());
  const [ada = 0] = people(platform);
  platform.faults.add({ method: "sendMessage", times: 1, kind: "flood", retryAfter: 1 });
  platform.act.say(ada, ada, "hello");
  await expect.poll(() => platform.calls.list({ method: "sendMessage" }).length).toBe(1);
  const restarting = host.restart();
  await expect.poll(() => results).toMatchObject([{ ok: false, code: "action_waits" }]);
  await restarting;
  await answered(platform, ada, "later");
  expect(answers(platform, ada)).toEqual(["later"]);
});

test("an agent that acted and then stays empty is silent; one that did not or could not act apologizes", async () => {
  const host = await createTestHost({
    config: { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } },
    async *answer({ tools, inbound, messages }, signal) {
      const send = tools.find(({ name }) => name === "send");
      if (inbound.text !== "nothing") await send?.run({ message: `${messages.length} read`, to: inbound.text }, signal);
      throw new EngineError("model_empty");
    },
  });
  onTestFinished(() => host.close());
  const texts = () => host.outbox().map(({ text }) => text);
  expect(await host.say("owner")).toMatchObject({ outcome: "silent", reason: "empty_reply" });
  expect(texts()).toEqual(["1 read"]);
  for (const text of ["nothing", "a stranger"])
    expect(await host.say(text), text).toMatchObject({ reason: "model_empty" });
  expect(texts()).toEqual(["1 read", expect.stringContaining("Sorry"), expect.stringContaining("Sorry")]);
  // Each message is in the conversation with what became of it, whether its turn failed or not.
  await host.say("owner");
  expect(texts().at(-1)).toBe("7 read");
});
