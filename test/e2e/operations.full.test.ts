import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createPlatform, type Platform } from "../../plugins/playground/platform/index.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { startGateway } from "../core/cli/gateway-runner.ts";
import {
  answered,
  answers,
  botToken,
  configure,
  openChannel,
  openPlatform,
  startGatewayProcess,
  stop,
} from "./room.ts";

interface Probed {
  readonly probe: {
    readonly ok: boolean;
    readonly detail: string;
    readonly findings?: readonly { readonly name: string }[];
  };
  readonly groups: readonly { readonly chat: string; readonly ok: boolean; readonly detail: string }[];
  readonly unprobed: readonly string[];
}

interface ChannelsAnswer {
  readonly running: boolean;
  readonly accounts: readonly {
    readonly account: string;
    readonly state: string;
    readonly identity?: { readonly username?: string };
    readonly lastContactAt?: number;
    readonly probe?: Probed;
  }[];
}

const kitchen = -1_001_000_000_001;
const workshop = -1_001_000_000_002;
const nowhere = -1_009_999_999_999;
const bot = Number(botToken.split(":")[0]);

/** Three groups by their ids, of which the bot is in one, and the star. */
function probed(platform: Platform): object {
  platform.act.setMember(workshop, bot, "kicked");
  return {
    channels: {
      botchat: openChannel(platform, {
        groups: { [kitchen]: {}, [workshop]: {}, [nowhere]: {}, "*": {}, "@kitchen": {} },
      }),
    },
  };
}

async function channels(home: string, ...more: readonly string[]) {
  const { code, out } = await run(["channels", "status", "--json", ...more, "--config", `${home}/config.jsonc`], {
    home,
  });
  return { code, ...(JSON.parse(out) as ChannelsAnswer) };
}

function expectProbe(probe: Probed | undefined): void {
  expect(probe?.probe).toMatchObject({ ok: true, detail: expect.stringContaining("@e2e_bot (4242), polling") });
  expect(probe?.groups.map(({ chat, ok }) => [chat, ok])).toEqual([
    [String(kitchen), true],
    [String(workshop), false],
    [String(nowhere), false],
  ]);
  expect(probe?.groups[1]?.detail).toContain("let an administrator add it again");
  expect(probe?.unprobed).toEqual(["*", "@kitchen"]);
}

describe("channels status", () => {
  test("shows the state, bot and last poll of a running gateway; a probe checks groups with an id", async () => {
    const platform = await openPlatform();
    const gateway = await startGatewayProcess(probed(platform));
    await expect
      .poll(async () => (await channels(gateway.home)).accounts[0])
      .toMatchObject({
        account: "default",
        state: "connected",
        identity: { username: "e2e_bot" },
        lastContactAt: expect.any(Number),
      });
    const { code, running, accounts } = await channels(gateway.home, "--probe");
    expect({ code, running }).toEqual({ code: 1, running: true });
    expectProbe(accounts[0]?.probe);
    const { out } = await run(["channels", "status", "--probe", "--config", gateway.file], { home: gateway.home });
    expect(out).toMatch(/^botchat:default +connected +@e2e_bot +last contact (just now|\d+ s ago)/);
    expect(out).toMatch(/✓ +group -1001000000001 +member/);
    expect(out).toMatch(/✗ +group -1001000000002 +the bot was removed from it/);
    expect(out).toMatch(/- +group \* +means every group/);
  });

  test("shows without a gateway how the last one left the account", async () => {
    const platform = await openPlatform();
    const gateway = await startGatewayProcess({
      channels: { botchat: openChannel(platform, { botToken: "4242:revoked" }) },
    });
    await gateway.until(/rejects the bot token/);
    await stop(gateway);
    const { out, code } = await run(["channels", "status", "--config", gateway.file], { home: gateway.home });
    expect(code).toBe(0);
    expect(out).toMatch(
      /^No gateway is running\..*\nbotchat:default +stopped .*last known: failed .*: the platform rejects the bot token\. Set botToken/,
    );
  });

  test("shows the configuration without a gateway, and a probe runs locally without consuming an update", async () => {
    const platform = await openPlatform();
    const home = temporaryHome();
    configure(home, probed(platform));
    platform.act.say(1001, 1001, "wait for the gateway");
    const waiting = platform.pending();
    const still = await channels(home);
    expect(still).toMatchObject({ code: 0, running: false, accounts: [{ account: "default", state: "stopped" }] });
    expect(platform.calls.list()).toEqual([]);
    const { code, running, accounts } = await channels(home, "--probe");
    expect({ code, running }).toEqual({ code: 1, running: false });
    expectProbe(accounts[0]?.probe);
    expect(platform.pending()).toBe(waiting);
  });
});

interface Finding {
  readonly check: string;
  readonly verdict: string;
  readonly reason: string;
  readonly path?: string;
  readonly repair?: string;
  readonly mended?: boolean;
}

interface DoctorAnswer {
  readonly ok: boolean;
  readonly backup?: string;
  readonly findings: readonly Finding[];
}

async function doctor(home: string, ...more: readonly string[]) {
  const { code, out } = await run(["doctor", "--json", ...more, "--config", `${home}/config.jsonc`], { home });
  return { code, ...(JSON.parse(out) as DoctorAnswer) };
}

const open = ({ findings }: DoctorAnswer, ...checks: readonly string[]) =>
  findings.filter(({ check, verdict }) => checks.includes(check) && verdict !== "ok");

const legacy = (platform: Platform): string => `{
  // mine
  "gateway": { "port": 0 },
  "state": { "dir": "state" },
  "agents": { "defaults": { "engine": "echo" } },
  "channels": {
    "botchat": {
      "botToken": "${botToken}",
      "apiRoot": "${platform.url}",
      "polling": { "timeoutSeconds": 1 },
      "dmPolicy": "allowlist",
      "allowFrom": [
        "tg:@Ada_Lind", // Ada, who pays
        1002,
        "@bela_varga",
        "@nobody_knows"
      ],
      "groups": {
        // where we eat
        "@kitchen_table": { "allowFrom": ["@ada_lind"], "topics": { "7": { "allowFrom": ["@ada_lind"] } } }
      },
      "accounts": { "default": {}, "second": { "enabled": false } }
    }
  }
}
`;

describe("doctor checks the platform", () => {
  for (const running of [true, false]) {
    test(`names become ids, comments stay, the file as it was is kept; ${running ? "while the gateway runs" : "without a gateway"}`, async () => {
      const platform = await openPlatform();
      const group = platform.world.addGroup({ id: -1_001_000_000_009, type: "supergroup", title: "Kitchen" });
      Object.assign(group.chat, { username: "kitchen_table" });
      platform.act.say(1001, 1001, "hello");
      platform.act.say(1002, 1002, "hello");
      const gateway = running ? await startGatewayProcess({ channels: {} }) : undefined;
      const home = gateway?.home ?? temporaryHome();
      const file = join(home, "config.jsonc");
      writeFileSync(file, legacy(platform), { mode: 0o600 });
      if (gateway) await gateway.until(/channel connected|state=connected|connected/);

      const dry = await doctor(home, "--dry-run", "--fix");
      expect(readFileSync(file, "utf8")).toBe(legacy(platform));
      expect(open(dry, "configuration")).toEqual([]);
      expect(open(dry, "allowlists", "groups").map(({ path, repair }) => [path, repair !== undefined])).toEqual(
        expect.arrayContaining([
          ["channels.botchat.allowFrom", true],
          ["channels.botchat.allowFrom", false],
          ["channels.botchat.groups.@kitchen_table", true],
          ["channels.botchat.groups.@kitchen_table.allowFrom", true],
          ["channels.botchat.groups.@kitchen_table.topics.7.allowFrom", true],
        ]),
      );

      const fixed = await doctor(home, "--fix");
      expect(readFileSync(fixed.backup ?? "", "utf8")).toBe(legacy(platform));
      const text = readFileSync(file, "utf8");
      expect(text).toContain("// mine");
      expect(text).toContain("// Ada, who pays");
      expect(text).toContain("// where we eat");
      expect(text).not.toMatch(/@ada|@bela|@kitchen/i);
      expect(text).toContain(
        '"-1001000000009": { "allowFrom": ["1001"], "topics": { "7": { "allowFrom": ["1001"] } } }',
      );
      const after = await doctor(home);
      expect(after).toMatchObject({ code: 0 });
      expect(open(after, "allowlists", "groups")).toMatchObject([{ reason: expect.stringContaining("@nobody_knows") }]);
      expect(text.replace(/\s/g, "")).toContain('"allowFrom":["1001",//Ada,whopays1002,"@nobody_knows"]');
    });
  }

  test("for a bot in two accounts, mentions-only privacy, a missing group, an old webhook, a bad token", async () => {
    const platform = await createPlatform({
      bots: [
        { token: botToken, username: "e2e_bot", name: "E2E" },
        { token: "4243:old", username: "other_bot", name: "Other", privacy: false },
      ],
    });
    onTestFinished(() => platform.close());
    platform.act.setMember(workshop, bot, "left");
    await fetch(`${platform.url}/bot${botToken}/setWebhook?url=http://127.0.0.1:9/secret-path`);
    const home = temporaryHome();
    configure(home, {
      agents: { defaults: { engine: "echo" } },
      channels: {
        botchat: {
          apiRoot: platform.url,
          allowFrom: [1001],
          groups: { [kitchen]: { requireMention: false }, [workshop]: { requireMention: true } },
          accounts: {
            first: { botToken },
            same: { botToken: `${botToken}x` },
            gone: { botToken: "4244:nobody" },
            other: { botToken: "4243:old" },
          },
        },
      },
    });
    const answer = await doctor(home);
    expect(answer.code).toBe(1);
    expect(open(answer, "configuration")).toMatchObject([
      {
        path: "channels.botchat.accounts.same.botToken",
        reason: expect.stringMatching(
          /signs in as 4242, and so does channels\.botchat\.accounts\.first\.botToken; channels\.botchat\.accounts\.same is off/,
        ),
      },
    ]);
    const told = open(answer, "platform", "groups").map(({ verdict, reason }) => `${verdict} ${reason}`);
    expect(told).toEqual([
      expect.stringMatching(/^warn botchat:first: webhook left over: the platform sends updates to 127\.0\.0\.1:9,/),
      "fail botchat:gone: the platform rejects the bot token",
      expect.stringMatching(/^warn botchat:first cannot be reached in the group -1001000000002/),
      expect.stringMatching(
        /^warn channels\.botchat\.groups\.-1001000000001\.requireMention is false, but the platform delivers to botchat:first only/,
      ),
    ]);
    expect(JSON.stringify(answer)).not.toMatch(/secret-path|e2e-bot-token/);
    // An administrator is handed everything.
    platform.act.setMember(kitchen, bot, "administrator");
    expect(open(await doctor(home), "groups").length).toBe(1);
  });

  test("for people who share a conversation and approvals of a removed account", async () => {
    const platform = await openPlatform();
    const channel = openChannel(platform, { dmPolicy: "pairing", allowFrom: [1001] });
    const gateway = await startGatewayProcess({ channels: { botchat: channel } });
    platform.act.say(1002, 1002, "may I?");
    await answered(platform, 1002, /pairing approve botchat/);
    const code = /approve botchat ([A-Z2-9]{8})/.exec(answers(platform, 1002).join())?.[1];
    expect(open(await doctor(gateway.home), "conversations")).toEqual([]);
    await run(["pairing", "approve", "botchat", code ?? "", "--config", gateway.file], { home: gateway.home });
    expect(open(await doctor(gateway.home), "conversations", "old state")).toMatchObject([
      { check: "conversations", path: "session.dmScope", reason: expect.stringContaining("2 people") },
    ]);
    configure(gateway.home, {
      channels: { botchat: { ...channel, botToken: undefined, accounts: { work: { botToken } } } },
    });
    expect(open(await doctor(gateway.home), "old state")).toMatchObject([
      { reason: "one sender is still approved for botchat:default, which is no longer configured" },
    ]);
  });

  test("through a running gateway with its own secrets, and lets its plugins check and fix problems", async () => {
    const platform = await openPlatform();
    const home = temporaryHome();
    const plugin = `export default {
      id: "postbox", version: "1.0.0", host: "^0.2.0",
      setup(host) {
        let full = true;
        host.check({
          name: "post",
          explain: async () => full ? { verdict: "fail", reason: "it is full", fix: "Empty it." } : { verdict: "ok", reason: "it is empty" },
          async fix() { full = false; return "emptied"; },
        });
      },
    };`;
    writeFileSync(join(home, "postbox.js"), plugin);
    const { botToken: _, ...channel } = openChannel(platform) as { readonly botToken: string };
    const file = configure(home, {
      gateway: { port: 0, auth: { token: { env: "GATEWAY_TOKEN" } } },
      hooks: { enabled: true, token: { env: "HOOK_TOKEN" } },
      plugins: { load: ["./postbox.js"] },
      channels: { botchat: { ...channel, groups: { [kitchen]: {}, "@nowhere": {}, [nowhere]: {} } } },
    });
    const env = {
      BOTCHAT_BOT_TOKEN: botToken,
      GATEWAY_TOKEN: "Gt81-of-the-north-west-0042",
      HOOK_TOKEN: "Ht81-of-the-north-west-0042",
    };
    const gateway = startGateway(["gateway", "--config", file], { home, env });
    await gateway.until(/ready at http:\S+ /);
    expect((await channels(home, "--probe")).accounts).toMatchObject([
      { state: expect.stringMatching(/^connect/), probe: { probe: { ok: true } } },
    ]);
    expect(open(await doctor(home), "postbox: post")).toMatchObject([
      { verdict: "fail", reason: "it is full", repair: expect.stringContaining("postbox") },
    ]);
    const { out } = await run(["doctor", "--fix", "--config", file], { home });
    expect(out).not.toMatch(/environment variable|^✗ +tokens/m);
    expect(out).toMatch(/✓ +postbox: post +it is full\n +done +let the plugin postbox fix "post"\n/);
    expect((await doctor(home)).findings).toContainEqual({
      check: "postbox: post",
      verdict: "ok",
      reason: "it is empty",
    });
  });

  test("for a group listed by name and by id, which it cannot fix, and still fixes the rest", async () => {
    const platform = await openPlatform();
    const group = platform.world.addGroup({ id: -1_001_000_000_009, type: "supergroup", title: "Kitchen" });
    Object.assign(group.chat, { username: "kitchen_table" });
    platform.act.say(1001, 1001, "hello");
    const home = temporaryHome();
    const groups = { "@kitchen_table": { allowFrom: ["@ada_lind"] }, "-1001000000009": {} };
    const file = configure(home, { channels: { botchat: openChannel(platform, { groups }) } });
    const { out, code } = await run(["doctor", "--fix", "--config", file], { home });
    expect(code).toBe(0);
    expect(out).toMatch(
      /failed +write -1001000000009 as the key of \S+: an entry with this id already exists; merge the two by hand/,
    );
    expect(out).toMatch(/done +write 1001 in place of "@ada_lind"/);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      channels: { botchat: { groups: { "@kitchen_table": { allowFrom: ["1001"] }, "-1001000000009": {} } } },
    });
  });
});
