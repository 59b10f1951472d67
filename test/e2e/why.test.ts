/** `service why last`: each way in which a message gets no answer, and the one line that the log has for it. */
import { describe, expect, test } from "vitest";
import { run } from "../core/cli/command-runner.ts";
import {
  answered,
  hookToken,
  openChannel,
  openPlatform,
  people,
  postHook,
  type Running,
  startGatewayProcess,
  stop,
} from "./room.ts";

interface Told {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const why = (gateway: Running, ...args: readonly string[]): Promise<Told> =>
  run(["why", ...args, "--config", gateway.file], { home: gateway.home });

/** Asks until the answer fits: what is told is written in the moment after it happened. */
async function whyLast(gateway: Running, pattern: RegExp): Promise<string> {
  let told = "";
  await expect
    .poll(
      async () => {
        const { out, err } = await why(gateway, "last");
        told = out + err;
        return told;
      },
      { interval: 200 },
    )
    .toMatch(pattern);
  return told;
}

/** The log's lines about ended events, as they were printed, once there is one of this outcome. */
async function endedLines(gateway: Running, outcome: string): Promise<readonly Record<string, unknown>[]> {
  return (await gateway.until(new RegExp(`"outcome":"${outcome}".*\n`)))
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === "event ended");
}

describe("why last", () => {
  test("explains an unapproved sender, an answer, an engine error and an unknown id", async () => {
    const platform = await openPlatform();
    const [ada = 0, bela = 0] = people(platform);
    const gateway = await startGatewayProcess({
      channels: { botchat: openChannel(platform, { dmPolicy: "allowlist", allowFrom: [ada] }) },
    });
    platform.act.say(bela, bela, "let me in");
    const refused = await whyLast(gateway, /^refused/);
    expect(refused).toMatch(/^refused \(sender_not_allowed\) after \d+ ms\n/);
    expect(refused).toContain(`Sender ${bela} is not in the allowlist.`);
    expect(refused).toContain("decided by channels.botchat.allowFrom");
    expect(refused).toContain(`to change  Add "${bela}" to channels.botchat.allowFrom.`);
    // Once a chat and hour is enough for the log.
    platform.act.say(bela, bela, "let me in, please");
    platform.act.say(ada, ada, "good morning");
    await answered(platform, ada, "good morning");
    const answer = await whyLast(gateway, /^answered/);
    expect(answer).toMatch(/gating +sender_allowed\n +decided by channels\.botchat\.allowFrom/);
    expect(answer).toMatch(/turn +done\n +12 characters/);
    expect(answer).toMatch(/delivery +sent by botchat/);
    const json = JSON.parse((await why(gateway, "last", "--json")).out) as { readonly decisions: readonly object[] };
    expect(json).toMatchObject({
      source: "botchat",
      kind: "update",
      account: "default",
      state: "settled",
      outcome: "answered",
      attempts: 1,
    });
    expect(Object.keys(json).sort()).toEqual(
      [
        "acceptedAt",
        "account",
        "agentId",
        "attempts",
        "decisions",
        "id",
        "kind",
        "lane",
        "outcome",
        "reason",
        "sessionKey",
        "settledAt",
        "source",
        "state",
        "unitId",
      ].sort(),
    );
    platform.act.say(ada, ada, "show error");
    await answered(platform, ada, "could not answer");
    const failed = await whyLast(gateway, /^failed/);
    expect(failed).toMatch(/^failed \(asked_to_fail\)/);
    expect(failed).toContain("The echo engine was asked to fail");
    expect(failed).toContain("to change  Ask for something other than `show error`.");
    expect(await why(gateway, "no-such-event")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^error: The event no-such-event does not exist\.\n {7}\S/),
    });

    const lines = await endedLines(gateway, "failed");
    const refusals = lines.filter(({ outcome }) => outcome === "refused");
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).toMatchObject({
      level: 30,
      reason: "sender_not_allowed",
      path: "channels.botchat.allowFrom",
      hint: `Add "${bela}" to channels.botchat.allowFrom.`,
    });
    expect(lines.find(({ outcome }) => outcome === "failed")).toMatchObject({
      level: 40,
      reason: "asked_to_fail",
      detail: "The echo engine was asked to fail",
      hint: "Ask for something other than `show error`.",
    });
    await stop(gateway);
    expect((await why(gateway, "last")).out, "also without a gateway").toMatch(/^failed \(asked_to_fail\)/);
  });

  test("explains a group message that does not mention the bot", async () => {
    const platform = await openPlatform({ privacy: false });
    const [ada = 0] = people(platform);
    const group = [...platform.world.rooms.values()].find(
      ({ chat }) => chat.type === "group" || chat.type === "supergroup",
    );
    const chat = group?.chat.id ?? 0;
    const gateway = await startGatewayProcess({
      channels: { botchat: openChannel(platform, { groupPolicy: "open" }) },
    });
    platform.act.say(ada, chat, "talk among people");
    const told = await whyLast(gateway, /^silent/);
    expect(told).toMatch(/^silent \(mention_required\)/);
    expect(told).toMatch(/decided by channels\.botchat\S*requireMention/);
    expect(told).toMatch(/to change {2}\S/);
    await stop(gateway);
  });

  test("explains a rejected bot token, and a webhook that is refused after it", async () => {
    const platform = await openPlatform();
    const gateway = await startGatewayProcess({
      hooks: { enabled: true, token: hookToken },
      channels: { botchat: openChannel(platform, { botToken: "999:no-bot-of-this-platform" }) },
    });
    const account = await whyLast(gateway, /^failed/);
    expect(account).toMatch(/^failed \(account_down\)/);
    expect(account).toContain("botchat:default");
    expect(account).toContain("the platform rejects the bot token");
    expect(account).toContain("decided by channels.botchat");
    expect(account).toMatch(/to change {2}Set botToken or tokenFile/);
    expect(JSON.parse((await why(gateway, "last", "--json")).out)).toMatchObject({
      account: { channel: "botchat", account: "default", path: "channels.botchat", state: "failed" },
    });
    const status = await run(["status", "--config", gateway.file], { home: gateway.home });
    expect(status.out).toContain("the platform rejects the bot token");

    expect((await postHook(gateway.url, "wake", { text: "hello" }, "not-the-hook-token")).status).toBe(401);
    const refused = await whyLast(gateway, /^refused/);
    expect(refused).toMatch(/^refused \(unauthorized\) with 401\n/);
    expect(refused).toContain("decided by hooks.token");
    expect(refused).toMatch(/to change {2}Send the token of this setting/);
    expect(JSON.parse((await why(gateway, "last", "--json")).out)).toMatchObject({
      refused: { code: "unauthorized", status: 401, subPath: "wake", client: "127.0.0.1" },
    });

    expect((await postHook(gateway.url, "agent", { message: "Hello from a hook", deliver: false })).status).toBe(202);
    await whyLast(gateway, /^(silent|answered)[\s\S]*(hooks, (agent|wake)|heartbeat)/);
    expect(account + refused).not.toMatch(/no-bot-of-this-platform|not-the-hook-token/);
    await stop(gateway);
  });
});
