/**
 * A message whose turn or delivery fails: its sender reads one apology that names a remedy; a hook's or a heartbeat's
 * failure disturbs nobody.
 */
import { createTestHost } from "service-gateway/testkit";
import { aroundEach, test } from "vitest";
import ai from "../../plugins/ai/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import { callTools, refuse, say } from "../openai-server/answers.ts";
import { createOpenAiServer, type OpenAiServer } from "../openai-server/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { endsOf } from "./conversation.ts";
import { answered, answers, hookToken, openChannel, openPlatform, people, postHook } from "./room.ts";

aroundEach(inOwnTest);

const full = refuse(400, "This model's maximum context length is 4096 tokens");

async function open({ model = "local/small" as string | object, maxSteps = 3 } = {}) {
  const server = await createOpenAiServer({ answer: (text) => say(`You said: ${text.split("] ").at(-1)}`) });
  const spare = await createOpenAiServer({ answer: () => say("The spare model answers.") });
  const platform = await openPlatform();
  const directory = temporaryDirectory();
  const provider = ({ url }: OpenAiServer) => ({ api: "openai-compatible", baseUrl: url });
  const host = await createTestHost({
    directory,
    plugins: [botchat, ai],
    allowErrors: [/the next one is used/],
    config: {
      agents: { defaults: { model, heartbeat: { every: "0" } } },
      models: { providers: { local: provider(server), spare: provider(spare) } },
      plugins: { entries: { ai: { options: { maxSteps, retries: 0 } } } },
      hooks: { token: hookToken },
      channels: { botchat: openChannel(platform, { streamMode: "off" }) },
    },
  });
  onTestFinished(async () => {
    await host.close();
    await server.close();
    await spare.close();
    removeDirectory(directory);
  });
  const [ada = 0] = people(platform);
  return {
    server,
    spare,
    platform,
    ada,
    url: host.url,
    ends: () => endsOf(directory),
    said: () => answers(platform, ada),
    async ask(text: string) {
      platform.act.say(ada, ada, text);
      await answered(platform, ada, `You said: ${text}`);
    },
  };
}

test.concurrent("an empty answer is retried once; if the second is empty too, the sender gets an apology", async () => {
  const { server, platform, ada, said, ends } = await open();
  server.script(say(""), say("Here I am."));
  platform.act.say(ada, ada, "are you there?");
  await answered(platform, ada, "Here I am.");
  server.script(say(""), say("  "));
  platform.act.say(ada, ada, "and now?");
  await answered(platform, ada, "send your message again");
  await expect.poll(ends).toEqual(["answered answered", "failed model_empty"]);
  expect(said()).toHaveLength(2);
  expect(server.requests).toHaveLength(4);
});

test.concurrent("a tool loop without end is reported to the sender as such", async () => {
  const { server, platform, ada, said, ends } = await open({ maxSteps: 2 });
  server.script(...Array.from({ length: 5 }, () => callTools([{ name: "react", args: { emoji: "👍" } }])));
  platform.act.say(ada, ada, "go on for ever");
  await answered(platform, ada, "all the tool calls");
  await expect.poll(ends).toEqual(["failed model_tool_loop"]);
  expect(said()).toHaveLength(1);
  expect(server.requests).toHaveLength(2);
});

test.concurrent("a request that is refused as too long is made once more, and the person reads the reply", async () => {
  const place = await open();
  for (const text of ["one", "two", "three", "four"]) await place.ask(text);
  const before = place.server.requests.length;
  place.server.script(full);
  await place.ask("five");
  await place.ask("six");
  const sizes = place.server.requests.slice(before).map(({ body }) => body.messages.length);
  // The instructions, four turns and the question, twice; and all of it again for the next question.
  expect(sizes).toEqual([10, 10, 12]);
  expect(JSON.stringify(place.server.requests.at(-1)?.body.messages)).toContain("You said: one");
});

test.concurrent("a server that refuses whatever is left out gets an apology that names a way out", async () => {
  const { server, platform, ada, said, ends } = await open();
  server.script(full, full, full, full);
  platform.act.say(ada, ada, "a very long message");
  await answered(platform, ada, "Sorry, this does not fit into my model, although I left out what I could.");
  await expect.poll(ends).toEqual(["failed model_context_full"]);
  expect(said()).toHaveLength(1);
});

test.concurrent("a fallback model answers if the first model's key is rejected", async () => {
  const { server, platform, ada, said } = await open({ model: { primary: "local/small", fallbacks: ["spare/big"] } });
  server.requireKey("another-key");
  platform.act.say(ada, ada, "hello");
  await answered(platform, ada, "The spare model answers.");
  expect(said()).toHaveLength(1);
});

test.concurrent("a failed hook turn or heartbeat sends nothing to the chat; the summary reports it", async () => {
  const place = await open();
  const { server, platform, ada, url, said, ends } = place;
  await place.ask("remember where I am");
  server.script(refuse(400, "no such field"));
  await postHook(url, "agent", { message: "look", name: "Door", deliver: true, wakeMode: "next-heartbeat" });
  await expect.poll(ends).toContain("failed model_refused");
  server.script(refuse(400, "no such field"));
  const asked = server.requests.length;
  await postHook(url, "wake", { text: "the bell rang", mode: "now" });
  await expect.poll(() => server.requests.length).toBe(asked + 1);
  expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain("Hook Door (model_refused)");
  // What a person writes next is answered after all of it.
  platform.act.say(ada, ada, "anything?");
  await answered(platform, ada, "You said: anything?");
  expect(said()).toEqual([expect.stringContaining("remember where I am"), expect.stringContaining("anything?")]);
});

const odd = { kind: "refuse", description: "Bad Request: something odd" } as const;

test.concurrent("if the platform rejects an answer for good, the sender learns of it and how to get it", async () => {
  const { platform, ada, said, ends, url } = await open();
  platform.faults.leaveTo((method, { text }) =>
    method === "sendMessage" && String(text).includes("You said") ? odd : undefined,
  );
  platform.act.say(ada, ada, "hello");
  await answered(platform, ada, "it could not be delivered, or not all of it. Ask me to repeat it");
  await expect.poll(ends).toEqual(["failed bad_request"]);
  // A webhook's answer that is refused disturbs nobody.
  await postHook(url, "agent", { message: "look", deliver: true, wakeMode: "next-heartbeat" });
  await expect.poll(ends).toContainEqual("failed bad_request");
  await expect.poll(async () => (await ends()).filter((end) => end === "failed bad_request").length).toBe(2);
  expect(said()).toHaveLength(1);
});

test.concurrent("if an answer may have arrived, the sender gets one notice, which claims nothing false", async () => {
  const { platform, ada, said, ends } = await open();
  platform.faults.leaveTo((method, { text }) =>
    method === "sendMessage" && String(text).includes("You said") ? { kind: "reset-after" } : undefined,
  );
  platform.act.say(ada, ada, "hello");
  await expect.poll(ends).toEqual(["failed send_fate_unknown"]);
  const answer = expect.stringContaining("You said");
  expect(said()).toEqual([
    answer,
    answer,
    expect.stringMatching(/cannot confirm that all of it arrived.*ask me to repeat it/),
  ]);
});

test.concurrent.each([
  ["is refused too is not sent again", { odd, sends: 2, end: "failed bad_request" }],
  [
    "could not arrive either is not sent at all",
    {
      odd: { kind: "refuse", status: 403, description: "Forbidden: bot was blocked by the user" } as const,
      sends: 1,
      end: "failed blocked_by_user",
    },
  ],
])("an apology that %s", async (_, { odd, sends, end }) => {
  const { platform, ada, ends } = await open();
  platform.faults.leaveTo((method) => (method === "sendMessage" ? odd : undefined));
  platform.act.say(ada, ada, "hello");
  await expect.poll(ends).toEqual([end]);
  expect(platform.calls.list({ method: "sendMessage" })).toHaveLength(sends);
});
