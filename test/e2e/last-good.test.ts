/** A wrong value in an edit of the file costs the edit, and nothing that ran: the section with the error stays as it was. */
import { expect, test } from "vitest";
import {
  answered,
  answers,
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

test("wrong values in hooks, a mapping, a channel, an account and agents: each section runs on as it was, the rest of the edit counts", {
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
  writeConfig(gateway.file, config({ hooks: { maxBodyBytes: "large" }, channel: { responsePrefix: "new:", streamMode: "sometimes" } }));
  const log = await gateway.until(takenOver(2));
  expect(log).toMatch(/"path":"hooks.maxBodyBytes".*configuration: is \\"large\\"/);
  expect(log).toMatch(/"sections":\["hooks","channels.botchat"\]/);
  expect(await note()).toBe(200);
  await say("still the old channel", "old:");
  expect(platform.calls.list({ method: "getMe" })).toHaveLength(1);

  // A section without a switch of its own: no default takes the place of what was set, and the rest of the edit counts.
  writeConfig(
    gateway.file,
    config({ channel: { responsePrefix: "new:" }, agents: { defaults: { engine: 7 } }, messages: { ackReaction: "👍" } }),
  );
  await gateway.until(takenOver(3));
  await say("the new channel", "new:");

  // Without its token the hook server would be off.
  writeConfig(gateway.file, { ...config({ channel: { responsePrefix: "odd:" } }), hooks: { enabled: true, token: "" } });
  await gateway.until(takenOver(4));
  expect(await note()).toBe(200);

  writeConfig(gateway.file, config({ hooks: { mappings: [] }, channel: { responsePrefix: "last:" } }));
  await gateway.until(takenOver(5));
  expect(await note()).toBe(404);
  await say("all good again", "last:");
  expect(answers(platform, ada).join()).not.toContain("could not answer");
  await stop(gateway);
});
