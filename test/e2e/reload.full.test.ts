/** An edited configuration takes effect for the next event, without a restart. */
import { aroundEach, describe, test } from "vitest";
import { expect, inOwnTest } from "../support/own-test.ts";
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

aroundEach(inOwnTest);

describe.concurrent("an edit of the configuration file", () => {
  test("applies policies and agents to the next message and reconnects an account only for its own settings", {
    timeout: 60_000,
  }, async () => {
    const platform = await openPlatform();
    const [ada = 0, bela = 0] = people(platform);
    const config = (channel: object, more: object = {}) =>
      withBasics({
        hooks: { enabled: true, token: hookToken },
        channels: { botchat: openChannel(platform, channel) },
        ...more,
      });
    const gateway = await startGatewayProcess(config({ dmPolicy: "allowlist", allowFrom: [ada] }));
    const greetings = () => platform.calls.list({ method: "getMe" }).length;
    platform.act.say(bela, bela, "before the edit");
    await gateway.until(/sender_not_allowed/);

    // A turn that runs ends under the configuration that it began with.
    platform.act.say(ada, ada, "show slow");
    await expect.poll(() => platform.calls.list({ method: "sendChatAction" }).length).toBeGreaterThan(0);
    expect(greetings()).toBe(1);
    writeConfig(
      gateway.file,
      config(
        { dmPolicy: "allowlist", allowFrom: [bela] },
        { hooks: { enabled: true, token: "another-hook-token-42" } },
      ),
    );
    await gateway.until(takenOver(1));
    platform.act.say(bela, bela, "after the edit");
    await answered(platform, bela, "after the edit");
    expect(answers(platform, bela).join()).not.toContain("before the edit");
    await answered(platform, ada, "Thank you for waiting");
    expect(greetings(), "the account was not restarted").toBe(1);

    expect((await postHook(gateway.url, "wake", { text: "old token" })).status).toBe(401);
    expect(
      (await postHook(gateway.url, "wake", { text: "new token", mode: "next-heartbeat" }, "another-hook-token-42"))
        .status,
    ).toBe(200);

    // Agents and models: a model that nobody serves is the next turn's error, and gone with the next edit.
    writeConfig(gateway.file, config({}, { agents: { defaults: { model: "nowhere/none" } } }));
    await gateway.until(takenOver(2));
    platform.act.say(bela, bela, "with the other model");
    await answered(platform, bela, "my model is not set up correctly");
    writeConfig(gateway.file, config({ timeoutSeconds: 59 }));
    await gateway.until(takenOver(3));
    await expect.poll(greetings).toBe(2);
    platform.act.say(bela, bela, "after the restart of the account");
    await answered(platform, bela, "after the restart of the account");
    expect(platform.calls.list({ method: "getUpdates" }).filter(({ status }) => status === 409)).toEqual([]);
    await stop(gateway);
  });

  test("with an error keeps the last good configuration and logs line and column; the next valid one applies", {
    timeout: 90_000,
  }, async () => {
    const platform = await openPlatform();
    const [ada = 0] = people(platform);
    const gateway = await startGatewayProcess({ channels: { botchat: openChannel(platform) } });
    writeConfig(gateway.file, `{\n  "channels": {\n    "botchat": { "botToken": "${botToken}" ]\n}`);
    const printed = await gateway.until(/was rejected.*\n/);
    const line = JSON.parse(printed.split("\n").find((one) => one.includes("was rejected")) ?? "{}") as Record<
      string,
      unknown
    >;
    expect(line).toMatchObject({ level: 50, line: 3, file: gateway.file });
    expect(line.column).toBeGreaterThan(30);
    expect(line.msg).toMatch(/the last valid one stays in effect: .*config\.jsonc:3:\d+: /);
    expect(printed).not.toContain(botToken);
    platform.act.say(ada, ada, "under the last good one");
    await answered(platform, ada, "under the last good one");
    writeConfig(
      gateway.file,
      withBasics({ log: { level: "debug" }, channels: { botchat: openChannel(platform, { dmPolicy: "disabled" }) } }),
    );
    await gateway.until(/"paths":\["log"\],"msg":"some settings take effect after a restart/);
    await gateway.until(takenOver(1));
    platform.act.say(ada, ada, "nobody answers now");
    await gateway.until(/dm_disabled/);
    // Back at what runs: nothing waits for the next start any more, and nothing says so.
    writeConfig(gateway.file, withBasics({ channels: { botchat: openChannel(platform, { dmPolicy: "disabled" }) } }));
    const whole = await gateway.until(takenOver(2));
    expect(whole.match(/some settings take effect/g)).toHaveLength(1);
    await stop(gateway);
  });
});
