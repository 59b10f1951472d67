/**
 * A wrong value in an edit of the file costs the edit, and nothing that ran: the section with the error stays as it
 * was.
 */
import { expect, onTestFinished, test } from "vitest";
import { createPlatform } from "../../plugins/playground/platform/index.ts";
import { run } from "../core/cli/command-runner.ts";
import {
  answered,
  answers,
  botToken,
  hookToken,
  openChannel,
  openPlatform,
  people,
  postHook,
  startGatewayProcess,
  stop,
  takenOver,
  withBasics,
  writeConfig,
} from "./room.ts";

test("a wrong value in hooks, a mapping, a channel, an account or agents keeps only that section as it was", {
  timeout: 60_000,
}, async () => {
  const platform = await openPlatform();
  const [ada = 0] = people(platform);
  const mapping = (text: object) => ({ match: { path: "note" }, action: "wake", wakeMode: "next-heartbeat", ...text });
  const config = (parts: { hooks?: object; channel?: object; agents?: object; messages?: object } = {}) =>
    withBasics({
      hooks: { enabled: true, token: hookToken, mappings: [mapping({ textTemplate: "one" })], ...parts.hooks },
      channels: { botchat: openChannel(platform, { responsePrefix: "old:", ...parts.channel }) },
      agents: { defaults: { engine: "echo" }, ...parts.agents },
      messages: parts.messages ?? {},
    });
  const gateway = await startGatewayProcess(config());
  const note = async () => (await postHook(gateway.url, "note", {})).status;
  const say = async (text: string, prefix: string) => {
    platform.act.say(ada, ada, text);
    await answered(platform, ada, new RegExp(`${prefix}[^\n]*\n?[\\s\\S]*${text}`));
  };
  expect(await note()).toBe(200);
  await say("before", "old:");

  // A mapping: its last good form goes on.
  writeConfig(gateway.file, config({ hooks: { mappings: [mapping({ textTemplate: "{{ broken" })] } }));
  await gateway.until(takenOver(1));
  expect(await note()).toBe(200);

  // The server of the hooks, by the schema; and one channel, by the schema of its plugin.
  writeConfig(
    gateway.file,
    config({ hooks: { maxBodyBytes: "large" }, channel: { responsePrefix: "new:", streamMode: "sometimes" } }),
  );
  const log = await gateway.until(takenOver(2));
  expect(log).toMatch(/"path":"hooks.maxBodyBytes".*configuration: is \\"large\\"/);
  expect(log).toMatch(/"sections":\["hooks","channels.botchat"\]/);
  expect(await note()).toBe(200);
  await say("still the old channel", "old:");
  expect(platform.calls.list({ method: "getMe" })).toHaveLength(1);

  // A section without a switch of its own: no default takes the place of what was set, and the rest of the edit counts.
  writeConfig(
    gateway.file,
    config({
      channel: { responsePrefix: "new:" },
      agents: { defaults: { engine: 7 } },
      messages: { ackReaction: "👍" },
    }),
  );
  await gateway.until(takenOver(3));
  await say("the new channel", "new:");

  // Without its token the hook server would be off.
  writeConfig(gateway.file, {
    ...config({ channel: { responsePrefix: "odd:" } }),
    hooks: { enabled: true, token: "" },
  });
  await gateway.until(takenOver(4));
  expect(await note()).toBe(200);

  writeConfig(gateway.file, config({ hooks: { mappings: [] }, channel: { responsePrefix: "last:" } }));
  await gateway.until(takenOver(5));
  expect(await note()).toBe(404);
  await say("all good again", "last:");
  expect(answers(platform, ada).join()).not.toContain("could not answer");
  await stop(gateway);
});

test("an account with a wrong value or another account's token keeps its settings; the other follows the edit", {
  timeout: 60_000,
}, async () => {
  const platform = await createPlatform({
    bots: [
      { token: botToken, username: "e2e_bot", name: "E2E" },
      { token: "2222:second-bot-token", username: "second_bot", name: "Second" },
    ],
  });
  onTestFinished(() => platform.close());
  const [ada = 0] = people(platform);
  const config = (first: object, second: object) =>
    withBasics({
      channels: {
        botchat: {
          ...openChannel(platform, { botToken: undefined }),
          accounts: { default: { botToken, ...first }, second: { botToken: "2222:second-bot-token", ...second } },
        },
      },
    });
  const gateway = await startGatewayProcess(config({ responsePrefix: "one:" }, { responsePrefix: "two:" }));
  const say = async (text: string, bot: string, prefix: string) => {
    platform.act.say(ada, ada, text, { bot });
    const rooms = () => [...platform.world.rooms.values()].filter(({ chat }) => chat.id === ada);
    const said = () =>
      rooms().flatMap(({ messages }) => [...messages.values()].flatMap((message) => message.text ?? []));
    await expect.poll(said).toContainEqual(expect.stringMatching(new RegExp(`^${prefix}[\\s\\S]*${text}`)));
  };
  await say("first before", "e2e_bot", "one:");
  await say("second before", "second_bot", "two:");

  writeConfig(gateway.file, config({ responsePrefix: "uno:" }, { responsePrefix: "due:", streamMode: "sometimes" }));
  const log = await gateway.until(takenOver(1));
  expect(log).toMatch(/"sections":\["channels\.botchat\.accounts\.second"\]/);
  await say("first follows", "e2e_bot", "uno:");
  await say("second stays", "second_bot", "two:");

  writeConfig(gateway.file, config({ responsePrefix: "un:" }, { responsePrefix: "deux:", botToken }));
  await gateway.until(takenOver(2));
  await say("first follows again", "e2e_bot", "un:");
  await say("second still stays", "second_bot", "two:");
  const { out } = await run(["channels", "status", "--config", gateway.file], { home: gateway.home });
  expect(out).toMatch(/botchat:default +connected +@e2e_bot/);
  expect(out).toMatch(/botchat:second +connected +@second_bot/);

  writeConfig(gateway.file, config({ responsePrefix: "eins:" }, { responsePrefix: "zwei:" }));
  await gateway.until(takenOver(3));
  await say("second follows", "second_bot", "zwei:");
  await stop(gateway);
});

test("an edit that contradicts an unchanged section is rejected as a whole, and the log says so", {
  timeout: 60_000,
}, async () => {
  const old = "hook-token-of-the-last-good-file";
  const other = "gateway-token-of-the-last-good-file";
  const config = (gateway: object, hooks: object, messages: object) =>
    withBasics({
      gateway: { port: 0, drainSeconds: 5, ...gateway },
      hooks: { enabled: true, token: old, ...hooks },
      messages,
    });
  const gateway = await startGatewayProcess(config({ auth: { token: other } }, {}, {}));
  const wake = async (token: string) =>
    (await postHook(gateway.url, "wake", { text: "x", mode: "next-heartbeat" }, token)).status;
  const manage = async (token: string) =>
    (await fetch(`${gateway.url}/gateway/describe`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect([await wake(old), await manage(other)]).toEqual([200, 200]);

  // The hooks change their token and have a wrong value; the gateway takes their old token. Kept hooks would open with
  // the gateway's token.
  writeConfig(
    gateway.file,
    config(
      { auth: { token: old } },
      { token: "hook-token-of-the-new-file", maxBodyBytes: "large" },
      { ackReaction: "👍" },
    ),
  );
  const log = await gateway.until(takenOver(1));
  expect(log).toMatch(/"sections":\["the whole configuration"\]/);
  expect([await wake(old), await manage(other), await manage(old)]).toEqual([200, 200, 401]);
  const { out } = await run(["status", "--config", gateway.file], { home: gateway.home });
  expect(out).toContain("config hooks.maxBodyBytes");

  writeConfig(gateway.file, config({ auth: { token: old } }, { token: "hook-token-of-the-new-file" }, {}));
  await gateway.until(takenOver(2));
  expect([await wake("hook-token-of-the-new-file"), await wake(old), await manage(old)]).toEqual([200, 401, 200]);
  await stop(gateway);
});
