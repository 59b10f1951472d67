/** The gateway, the platform and the model server as processes and servers of their own, over real HTTP. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createPlatform, type Platform } from "../../plugins/playground/platform/index.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { startGateway } from "../core/cli/gateway-runner.ts";
import { createOpenAiServer, type OpenAiServer } from "../openai-server/index.ts";

const token = "4242:e2e-bot-token";
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function platformAndModel(): Promise<{ readonly platform: Platform; readonly model: OpenAiServer }> {
  const platform = await createPlatform({ bots: [{ token, username: "e2e_bot", name: "E2E" }] });
  const model = await createOpenAiServer();
  closing.push(
    () => platform.close(),
    () => model.close(),
  );
  return { platform, model };
}

function configure(home: string, config: object): string {
  const file = join(home, "config.jsonc");
  writeFileSync(file, JSON.stringify({ gateway: { port: 0 }, state: { dir: "state" }, ...config }));
  return file;
}

const people = (platform: Platform) => [...platform.world.people.keys()];

/** Texts of the bot in a person's direct chat, as they stand now. */
function answers(platform: Platform, person: number): readonly string[] {
  const room = [...platform.world.rooms.values()].find(({ chat }) => chat.id === person);
  return [...(room?.messages.values() ?? [])].filter(({ from }) => from?.is_bot === true).map(({ text }) => text ?? "");
}

describe("a gateway process with the ai engine", () => {
  test("two simultaneous senders each get a streamed answer, in the order of their questions", async () => {
    const { platform, model } = await platformAndModel();
    const home = temporaryHome();
    const file = configure(home, {
      channels: {
        botchat: { botToken: token, apiRoot: platform.url, dmPolicy: "open", allowFrom: ["*"], ackReaction: "" },
      },
      session: { dmScope: "per-peer" },
      models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
      agents: { defaults: { model: "local/test-model" } },
    });
    const gateway = startGateway(["gateway", "--config", file], { home });
    await gateway.until(/channel connected/);
    const [ada = 0, bela = 0] = people(platform);
    for (const question of ["first", "second", "third"]) {
      platform.act.say(ada, ada, `Ada asks the ${question} question`);
      platform.act.say(bela, bela, `Bela asks the ${question} question`);
    }
    for (const [person, name] of [
      [ada, "Ada"],
      [bela, "Bela"],
    ] as const) {
      await expect.poll(() => answers(platform, person).filter((text) => text.includes(name)).length).toBe(3);
      const order = answers(platform, person).map((text) => /first|second|third/.exec(text)?.[0]);
      expect(order).toEqual(["first", "second", "third"]);
    }
    expect(answers(platform, ada).join()).not.toContain("Bela");
    expect(model.requests.every(({ body }) => body.stream === true && body.model === "test-model")).toBe(true);
    gateway.child.kill("SIGTERM");
    expect((await gateway.finished).code).toBe(0);
  });

  test("a bot token that the platform rejects is reported with a remedy, and the rest runs", async () => {
    const { platform } = await platformAndModel();
    const home = temporaryHome();
    const file = configure(home, {
      hooks: { enabled: true, token: "hook-token-0123456789" },
      channels: { botchat: { botToken: "999:not-a-bot-of-this-platform", apiRoot: platform.url } },
    });
    const gateway = startGateway(["gateway", "--config", file], { home });
    const printed = await gateway.until(/unauthorized|401|refuse|reject/i);
    expect(printed).not.toContain("not-a-bot-of-this-platform");
    const url = /https?:\/\/127\.0\.0\.1:\d+/.exec(await gateway.until(/the gateway is up/))?.[0] ?? "";
    const answer = await fetch(`${url}/hooks/wake`, {
      method: "POST",
      headers: { authorization: "Bearer hook-token-0123456789", "content-type": "application/json" },
      body: JSON.stringify({ text: "still here" }),
    });
    expect(answer.status).toBe(200);
    const status = await run(["status", "--config", file], { home });
    expect(status.out).toMatch(/botchat/);
    expect(status.out).toMatch(/token/i);
    gateway.child.kill("SIGTERM");
    await gateway.finished;
  });

  test("a failing engine sends the person an apology and gives the operator the reason", async () => {
    const { platform, model } = await platformAndModel();
    model.requireKey("the-right-key");
    const home = temporaryHome();
    const file = configure(home, {
      channels: { botchat: { botToken: token, apiRoot: platform.url, dmPolicy: "open", allowFrom: ["*"] } },
      models: { providers: { local: { api: "openai-compatible", baseUrl: model.url, apiKey: "the-wrong-key-xyz" } } },
      agents: { defaults: { model: "local/test-model" } },
    });
    const gateway = startGateway(["gateway", "--config", file], { home });
    await gateway.until(/channel connected/);
    const [ada = 0] = people(platform);
    platform.act.say(ada, ada, "hello");
    await expect.poll(() => answers(platform, ada).join()).toContain("my model is not set up correctly");
    await gateway.until(/outcome=failed|"outcome":"failed"/);
    const why = await run(["why", "last", "--config", file], { home });
    expect(why.out).toMatch(/key/i);
    expect(why.out + why.err + (await gateway.until(/./))).not.toContain("the-wrong-key-xyz");
    gateway.child.kill("SIGTERM");
    await gateway.finished;
  });
});
