/** A model server that breaks in the middle of its answers: the second one answers, and nobody reads two beginnings. */
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { aroundEach, describe, test } from "vitest";
import ai from "../../plugins/ai/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import schedule from "../../plugins/schedule/index.ts";
import { root } from "../house/sources.ts";
import { type Answer, callTools, cut, endEarly, errorInStream, say, stall } from "../openai-server/answers.ts";
import { createOpenAiServer, type OpenAiServer } from "../openai-server/index.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { answered, answers, openChannel, openPlatform, people } from "./room.ts";

aroundEach(inOwnTest);

const words = (word: string, count: number) => Array.from({ length: count }, (_, index) => `${word}${index}`).join(" ");
const provider = ({ url }: OpenAiServer) => ({ api: "openai-compatible", baseUrl: url });

async function servers() {
  const [first, second] = await Promise.all([
    createOpenAiServer(),
    createOpenAiServer({ answer: () => say("Here is the answer.") }),
  ]);
  onTestFinished(async () => {
    await Promise.all([first.close(), second.close()]);
  });
  const config = {
    agents: {
      defaults: {
        model: { primary: "first/a", fallbacks: ["second/b"] },
        heartbeat: { every: "0", target: "last" },
        timezone: "UTC",
      },
    },
    models: { providers: { first: provider(first), second: provider(second) } },
    plugins: { entries: { ai: { options: { retries: 1, retryDelayMs: 20, chunkMs: 400 } } } },
  };
  return { first, second, config };
}

const manyTimes = (answer: Answer) => Array.from({ length: 4 }, () => answer);
const breaks: readonly [string, Answer][] = [
  ["a cut connection", cut(words("void", 40))],
  [
    "an error in the stream",
    errorInStream("the host is gone", { text: words("void", 40), error: { error: { code: 502, message: "dead" } } }),
  ],
  ["an end without a finish", endEarly(words("void", 40))],
  ["a stall", stall(words("void", 40))],
  ["a cut after few characters", cut("void void void")],
];

describe.concurrent("before any output is visible, the second model answers after", () => {
  test.each(breaks)("%s: for a webhook, a wake, a schedule and a message without previews", async (_, answer) => {
    const { first, second, config } = await servers();
    const host = await createTestHost({
      plugins: [ai, schedule],
      allowErrors: [/the next one is used/],
      config: {
        ...config,
        schedules: { check: { every: "2h", message: "Check it.", to: "loopback:owner" } },
      },
    });
    onTestFinished(() => host.close());
    first.script(...manyTimes(answer));
    const { ended } = await host.deliver("agent", { message: "It broke.", deliver: false });
    expect(ended).toMatchObject([{ outcome: "silent", reason: "not_asked" }]);
    expect([first.requests.length, second.requests.length]).toEqual([expect.any(Number), 1]);
    const pause = async () => await host.advance(11 * 60_000);
    await pause();
    first.script(...manyTimes(answer));
    expect(await host.say("Hello")).toMatchObject({ outcome: "answered" });
    await pause();
    first.script(...manyTimes(answer));
    const woken = await host.deliver("wake", { text: "Look.", mode: "now" });
    expect(woken.ended.at(-1)).toMatchObject({ outcome: "answered" });
    await pause();
    first.script(...manyTimes(answer));
    await host.advance(2 * 60 * 60_000);
    expect(host.outbox().length).toBeGreaterThanOrEqual(3);
    for (const { text } of host.outbox()) expect(text).toBe("Here is the answer.");
    for (const { outcome } of host.ended()) expect(outcome).not.toBe("failed");
  });
});

describe.concurrent("an interrupted answer in a chat with previews", () => {
  const long = words("void", 160);

  test.each<[string, object, Answer]>([
    ["partial, a cut", { streamMode: "partial" }, cut(long, { delayMs: 12 })],
    ["partial, a stall", { streamMode: "partial" }, stall(long)],
    ["partial with several messages", { streamMode: "partial", textChunkLimit: 300 }, cut(long, { delayMs: 20 })],
    [
      "block with several messages",
      { streamMode: "block", textChunkLimit: 300, draftChunk: { minChars: 50, maxChars: 120 } },
      cut(long, { delayMs: 20 }),
    ],
    ["without previews", { streamMode: "off" }, cut(long)],
    ["fewer characters than a preview needs", { streamMode: "partial" }, cut("void void")],
  ])("%s leaves one message, which is the second model's", async (_, channel, answer) => {
    const { first, second, config } = await servers();
    const platform = await openPlatform();
    const host = await createTestHost({
      plugins: [botchat, ai],
      allowErrors: [/the next one is used/],
      config: { ...config, channels: { botchat: openChannel(platform, channel) } },
    });
    onTestFinished(() => host.close());
    const [ada = 0] = people(platform);
    first.script(...manyTimes(answer));
    second.script(say(`Here it is: ${words("right", 30)}`, { delayMs: 20 }));
    const seen = new Set<string>();
    const watching = setInterval(() => {
      for (const text of answers(platform, ada)) seen.add(text);
    }, 20);
    try {
      platform.act.say(ada, ada, "what is it?");
      await answered(platform, ada, "right29", 20_000);
      await expect.poll(() => answers(platform, ada)).toEqual([`Here it is: ${words("right", 30)}`]);
    } finally {
      clearInterval(watching);
    }
    // No message ever joins both.
    for (const text of seen) expect(text.includes("void") && text.includes("right")).toBe(false);
    // What is void is in no later request.
    platform.act.say(ada, ada, "and now?");
    await answered(platform, ada, "Here is the answer.");
    const asked = JSON.stringify(second.requests.at(-1)?.body.messages);
    expect(asked).toContain("right29");
    expect(asked).not.toContain("void");
  });

  test("a tool that ran before the interruption runs once, and the trace names both models", async () => {
    const { first, second, config } = await servers();
    const runs: unknown[] = [];
    const host = await createTestHost({
      plugins: [
        ai,
        {
          id: "notes",
          version: "1.0.0",
          host: "^0.2.0",
          setup(host) {
            host.toolSource({
              id: "notes",
              offer: () => ({
                tools: [
                  {
                    name: "note",
                    description: "Writes a note.",
                    parameters: { type: "object", properties: { text: { type: "string" } } },
                    run: ({ args }) => {
                      runs.push(args);
                      return { ok: true };
                    },
                  },
                ],
              }),
            });
          },
        },
      ],
      allowErrors: [/the next one is used/],
      config,
    });
    onTestFinished(() => host.close());
    first.script(callTools([{ name: "note", args: { text: "milk" } }]), ...manyTimes(cut(long)));
    const { eventId } = await host.say("Note milk.");
    expect(runs).toEqual([{ text: "milk" }]);
    expect(host.outbox().map(({ text }) => text)).toEqual(["Here is the answer."]);
    expect(JSON.stringify(second.requests[0]?.body.messages)).toContain('{\\"ok\\":true}');
    const turn = (await host.why(eventId)).find(({ code }) => code === "done");
    expect(turn?.detail).toMatch(
      /restarted after model_cut_off.*second\/b answered in place of first\/a \(model_cut_off: /,
    );
  });

  test("a stop while the next model answers ends the turn with the text that is already visible", async () => {
    const { first, second, config } = await servers();
    const platform = await openPlatform();
    const host = await createTestHost({
      plugins: [botchat, ai],
      allowErrors: [/the next one is used/],
      config: { ...config, channels: { botchat: openChannel(platform, { streamMode: "partial" }) } },
    });
    onTestFinished(() => host.close());
    const [ada = 0] = people(platform);
    first.script(...manyTimes(cut(long)));
    second.script(say(words("right", 400), { delayMs: 20 }));
    platform.act.say(ada, ada, "what is it?");
    await answered(platform, ada, "right30");
    platform.act.say(ada, ada, "/stop");
    await answered(platform, ada, "(stopped)");
    for (const text of answers(platform, ada)) expect(text).not.toContain("void");
  });
});

test("an engine in a worker also starts over", async () => {
  const { first, config } = await servers();
  const host = await createTestHost({
    allowErrors: [/the next one is used/],
    config: {
      ...config,
      plugins: {
        load: [join(root, "plugins", "ai")],
        entries: { ai: { ...config.plugins.entries.ai, isolation: "worker" } },
      },
    },
  });
  onTestFinished(() => host.close());
  first.script(...manyTimes(cut(words("void", 100))));
  expect(await host.say("Hello")).toMatchObject({ outcome: "answered" });
  expect(host.outbox().map(({ text }) => text)).toEqual(["Here is the answer."]);
});
