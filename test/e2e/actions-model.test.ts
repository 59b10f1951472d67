/** Tools in the hands of a model, and over a crash: the same call in the same turn is one message. */
import { expect, onTestFinished, test } from "vitest";
import type { EngineTurn, Json, TurnEvent } from "../../core/sdk/contract.ts";
import ai from "../../plugins/ai/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import { callTools, say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { createEngine, startGateway } from "../support/gateway.ts";
import { answered, answers, openChannel, openPlatform, people } from "./room.ts";

test("a model is offered the tools that are open, each once, told how to react, and reads what became of a call", async () => {
  const model = await createOpenAiServer();
  const platform = await openPlatform();
  const directory = temporaryDirectory();
  const { gateway } = await startGateway({
    directory,
    plugins: [botchat, ai],
    config: {
      agents: { defaults: { model: "local/small" } },
      models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
      channels: { botchat: openChannel(platform, { streamMode: "off", reactionLevel: "extensive", actions: { deleteMessage: false } }) },
    },
  });
  onTestFinished(async () => {
    await gateway.close();
    await model.close();
    removeDirectory(directory);
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
  expect(asked?.body.tools?.map((tool) => tool.function.name)).toEqual(["send", "edit", "react"]);
  expect(JSON.stringify(asked?.body.messages[0])).toContain("React with an emoji whenever");
  const results = (told?.body.messages ?? []).flatMap((one) => (one.role === "tool" ? [JSON.parse(String(one.content)) as Json] : []));
  expect(results).toEqual([
    { ok: true, messageId: expect.any(String), chatId: String(ada) },
    { ok: true },
    { ok: false, code: "recipient_not_allowed", error: expect.stringContaining("channels.botchat.allowFrom does not name") },
  ]);
  expect(answers(platform, ada)).toEqual(["Looking it up.", "Here it is."]);
});

test("a turn that runs again after a stop sends nothing twice, and its tools tell the same", async () => {
  const platform = await openPlatform();
  const directory = temporaryDirectory();
  onTestFinished(() => removeDirectory(directory));
  const results: Json[] = [];
  let stay = true;
  async function* run(turn: EngineTurn, signal: AbortSignal): AsyncGenerator<TurnEvent> {
    const send = turn.tools.find(({ name }) => name === "send");
    results.push((await send?.run({ message: "on my way" }, signal)) ?? null);
    // The first gateway stops while the agent still thinks.
    if (stay) await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    yield { type: "text", delta: "there" };
    yield { type: "done" };
  }
  const boot = () =>
    startGateway({
      directory,
      plugins: [botchat, createEngine(run)],
      config: {
        gateway: { port: 0, drainSeconds: 0 },
        agents: { defaults: { engine: "scripted" } },
        channels: { botchat: openChannel(platform, { streamMode: "off" }) },
      },
    });
  const first = await boot();
  const [ada = 0] = people(platform);
  platform.act.say(ada, ada, "where are you?");
  await expect.poll(() => results.length).toBe(1);
  await first.gateway.close();
  stay = false;
  const second = await boot();
  onTestFinished(() => second.gateway.close());
  await answered(platform, ada, "there");
  expect(answers(platform, ada)).toEqual(["on my way", "there"]);
  expect(results[0]).toMatchObject({ ok: true, messageId: expect.any(String) });
  expect(results[1]).toEqual(results[0]);
});

test("a gateway that stops does not wait for a tool whose platform is away; its message goes out once", async () => {
  const platform = await openPlatform();
  const directory = temporaryDirectory();
  onTestFinished(() => removeDirectory(directory));
  const results: Json[] = [];
  const boot = () =>
    startGateway({
      directory,
      plugins: [
        botchat,
        createEngine(async (turn, signal) => {
          results.push((await turn.tools.find(({ name }) => name === "send")?.run({ message: "later" }, signal)) ?? null);
          return "NO_REPLY";
        }),
      ],
      config: {
        gateway: { port: 0, drainSeconds: 60 },
        agents: { defaults: { engine: "scripted" } },
        channels: { botchat: openChannel(platform, { streamMode: "off" }) },
      },
    });
  const first = await boot();
  const [ada = 0] = people(platform);
  platform.faults.add({ method: "sendMessage", times: 1, kind: "flood", retryAfter: 1 });
  platform.act.say(ada, ada, "hello");
  await expect.poll(() => platform.calls.list({ method: "sendMessage" }).length, { timeout: 5_000 }).toBe(1);
  const closing = first.gateway.close();
  await expect.poll(() => results, { timeout: 5_000 }).toMatchObject([{ ok: false, code: "action_waits" }]);
  await closing;
  const second = await boot();
  onTestFinished(() => second.gateway.close());
  await answered(platform, ada, "later");
  expect(answers(platform, ada)).toEqual(["later"]);
});
