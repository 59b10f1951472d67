/**
 * Reasoning that local servers leave in the text: nobody reads it, in previews or in the history, unless `/reasoning
 * on` asks for it.
 */
import { createTestHost } from "service-gateway/testkit";
import { aroundEach, describe, test } from "vitest";
import ai from "../../plugins/ai/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import { say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { answered, answers, openChannel, openPlatform, people } from "./room.ts";

aroundEach(inOwnTest);

const secret = "The person seems annoyed";
const thought = `${secret} today, so I am kind to them.`;
const answer = `The answer is 42. ${"It is always 42, as everybody knows. ".repeat(6)}`.trim();

const forms: readonly [string, string][] = [
  ["a pair of marks", `<think>\n${thought}\n</think>\n\n${answer}`],
  ["a closing mark alone", `${thought}\n</think>\n\n${answer}`],
  ["another pair", `<thinking>${thought}</thinking>\n${answer}`],
  ["Gemma's channel", `<|channel>thought\n${thought}\n<channel|>${answer}`],
  [
    "harmony",
    `<|channel|>analysis<|message|>${thought}<|end|><|start|>assistant<|channel|>final<|message|>${answer}<|return|>`,
  ],
];

async function open(streamMode: string) {
  const model = await createOpenAiServer();
  const platform = await openPlatform();
  const host = await createTestHost({
    plugins: [botchat, ai],
    config: {
      agents: { defaults: { model: "local/small" } },
      models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
      channels: { botchat: openChannel(platform, { streamMode }) },
    },
  });
  onTestFinished(async () => {
    await host.close();
    await model.close();
  });
  const [ada = 0] = people(platform);
  return { model, platform, ada };
}

describe.concurrent("local reasoning with a preview", () => {
  test.each(forms)("in the form of %s is never visible, and only the answer remains", async (_, written) => {
    const { model, platform, ada } = await open("partial");
    model.script(say(written, { delayMs: 25 }), say("Fine."));
    const seen = new Set<string>();
    const watching = setInterval(() => seen.add(answers(platform, ada).join("\n")), 15);
    platform.act.say(ada, ada, "what is it?");
    await answered(platform, ada, answer).finally(() => clearInterval(watching));
    expect(answers(platform, ada)).toEqual([answer]);
    expect([...seen].filter((text) => text !== "" && text !== answer).length).toBeGreaterThan(0);
    for (const text of seen) expect(text).not.toMatch(/person|annoyed|think|channel|<\|/);
    platform.act.say(ada, ada, "and now?");
    await answered(platform, ada, "Fine.");
    const history = JSON.stringify(model.requests.at(-1)?.body.messages);
    expect(history).toContain("The answer is 42.");
    expect(history).not.toContain(secret);
    // It is there for those who ask for it.
    platform.act.say(ada, ada, "/reasoning on");
    await answered(platform, ada, /reasoning/i);
    model.script(say(written));
    platform.act.say(ada, ada, "once more");
    await answered(platform, ada, secret);
  });
});

test("an answer about the reasoning mark stays complete", async () => {
  const { model, platform, ada } = await open("partial");
  const about =
    `${"Models of this kind think aloud. ".repeat(10)}The mark </think> ends that, as in ` +
    `\`</think>\`, and then the answer follows.`;
  model.script(say(about, { delayMs: 10 }));
  platform.act.say(ada, ada, "what is it?");
  await answered(platform, ada, "and then the answer follows.");
  expect(answers(platform, ada)).toEqual([about.replaceAll("`", "")]);
});
