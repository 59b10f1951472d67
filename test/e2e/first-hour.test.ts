/**
 * What people meet in the first hour in a chat: commands that can be tapped, a code that gets lost, an answer that
 * fails.
 */
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import ai from "../../plugins/ai/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import echo from "../../plugins/echo/index.ts";
import type { Platform } from "../../plugins/playground/platform/index.ts";
import { refuse } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { answered, answers, openChannel, openPlatform, people } from "./room.ts";

async function open(config: object, channel: object = {}): Promise<Platform> {
  const platform = await openPlatform();
  const host = await createTestHost({
    plugins: [botchat, echo, ai],
    config: {
      commands: { ownerAllowFrom: undefined },
      channels: { botchat: openChannel(platform, { streamMode: "off", ...channel }) },
      ...config,
    },
  });
  onTestFinished(() => host.close());
  return platform;
}

const lastOf = (platform: Platform, chat: number) => {
  const room = [...platform.world.rooms.values()].find((one) => one.chat.id === chat);
  return [...(room?.messages.values() ?? [])].at(-1);
};

test("every command in /help can be tapped, because none is formatted as code", async () => {
  const platform = await open({});
  const [ada = 0] = people(platform);
  platform.act.say(ada, ada, "/help");
  await answered(platform, ada, "Commands");
  const message = lastOf(platform, ada);
  const tappable = (message?.entities ?? [])
    .filter(({ type }) => type === "bot_command")
    .map(({ offset, length }) => message?.text?.slice(offset, offset + length));
  expect(tappable).toEqual(
    expect.arrayContaining(["/help", "/commands", "/status", "/new", "/stop", "/model", "/think", "/config"]),
  );
});

test("a pairing code that could not be sent comes with the next message; a delivered one is not repeated", async () => {
  const platform = await open({}, { dmPolicy: "pairing", allowFrom: [] });
  const [ada = 0] = people(platform);
  const codes = () => answers(platform, ada).filter((text) => text.includes("Pairing code"));
  platform.faults.add({
    method: "sendMessage",
    times: 1,
    kind: "refuse",
    status: 400,
    description: "Bad Request: refused",
  });
  platform.act.say(ada, ada, "hello?");
  await expect.poll(() => platform.faults.list()).toEqual([]);
  await expect.poll(() => platform.pending()).toBe(0);
  expect(codes()).toEqual([]);
  platform.act.say(ada, ada, "hello??");
  await answered(platform, ada, "Pairing code");
  platform.act.say(ada, ada, "hello???");
  await expect.poll(() => platform.pending()).toBe(0);
  expect(codes()).toHaveLength(1);
});

test("the gateway token approves a code over HTTP; a page for one sender cannot approve another", async () => {
  const platform = await openPlatform();
  const host = await createTestHost({
    plugins: [botchat, echo],
    config: {
      commands: { ownerAllowFrom: undefined },
      gateway: { auth: { token: "the-gateway-token-0123456789" } },
      channels: { botchat: openChannel(platform, { streamMode: "off", dmPolicy: "pairing", allowFrom: [] }) },
    },
  });
  onTestFinished(() => host.close());
  const [ada = 0, bela = 0] = people(platform);
  platform.act.say(ada, ada, "hello");
  await answered(platform, ada, "Pairing code");
  const [, code] = /Pairing code: ([A-Z2-9]{8})/.exec(answers(platform, ada).join("\n")) ?? [];
  const approve = async (body: object, token = "the-gateway-token-0123456789") => {
    const response = await fetch(`${host.url}/gateway/pairing/approve`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  };
  expect(await approve({ channel: "botchat", code }, "wrong")).toMatchObject({ status: 401 });
  expect(await approve({ channel: "botchat" })).toMatchObject({ status: 400, body: { code: "invalid_payload" } });
  expect(await approve({ channel: "botchat", code, sender: String(bela) })).toMatchObject({
    status: 404,
    body: { code: "pairing_code_unknown" },
  });
  expect(await approve({ channel: "botchat", code, sender: String(ada) })).toMatchObject({
    status: 200,
    body: { ok: true, approved: { senderId: String(ada), owner: true } },
  });
  await answered(platform, ada, "You are approved");
});

test("an owner is not told to contact the owner", async () => {
  const server = await createOpenAiServer();
  onTestFinished(() => server.close());
  const platform = await open(
    {
      agents: { defaults: { model: "local/small", heartbeat: { every: "0" } } },
      models: { providers: { local: { api: "openai-compatible", baseUrl: server.url } } },
      plugins: { entries: { ai: { options: { retries: 0 } } } },
    },
    { allowFrom: ["*", "1001"] },
  );
  const [ada = 0, bela = 0] = people(platform);
  for (const person of [ada, bela]) {
    server.script(refuse(401, "bad key"));
    platform.act.say(person, person, "hello");
    await answered(platform, person, "not set up correctly");
  }
  expect(answers(platform, ada)[0]).toMatch(/ why last names the reason; sending your message again does not help\.$/);
  expect(answers(platform, bela)[0]).toContain("Please contact the owner of this bot;");
});

test("a failed answer says what the sender can do, not what only the operator can see", async () => {
  const server = await createOpenAiServer();
  onTestFinished(() => server.close());
  const platform = await open({
    agents: { defaults: { model: "local/small", heartbeat: { every: "0" } } },
    models: { providers: { local: { api: "openai-compatible", baseUrl: server.url } } },
    plugins: { entries: { ai: { options: { retries: 0 } } } },
  });
  const [ada = 0] = people(platform);
  for (const [status, said, remedy] of [
    [401, "bad key", "not set up correctly. Please contact the owner"],
    [404, "no such model", "/model default resets it"],
    [402, "no credit", "try again later, or contact the owner"],
    [400, "strange", "Your message need not be the reason"],
    [400, "The response was filtered due to the prompt triggering the content management policy.", "in other words"],
  ] as const) {
    server.script(refuse(status, said));
    platform.act.say(ada, ada, `Please: ${said}`);
    await answered(platform, ada, remedy);
  }
  expect(answers(platform, ada).join("\n")).not.toContain("operator");
});
