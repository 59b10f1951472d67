import { describe, expect, test } from "vitest";
import { createTestAccount, openConnection } from "./account.ts";
import { callsOf, forum, openPlatform, token } from "./platform.ts";

const bot = Number(token.split(":")[0]);
const kitchen = -1_001_000_000_001;

/** A connection that is never started, as whoever only looks has it. */
async function look(options: object = {}) {
  const platform = await openPlatform();
  const connection = openConnection(createTestAccount({ botToken: token, apiRoot: platform.url, ...options }));
  const names = async () => ((await connection.probe?.())?.findings ?? []).map(({ name }) => name);
  const setWebhook = (url: string) => fetch(`${platform.url}/bot${token}/setWebhook?url=${url}`);
  return { platform, connection, names, setWebhook };
}

describe("probe", () => {
  test("works without a start and changes nothing on the platform", async () => {
    const { platform, connection } = await look();
    expect(await connection.probe?.()).toMatchObject({
      ok: true,
      identity: { id: String(bot), username: "house_bot" },
      seesAllGroupMessages: false,
      findings: [],
    });
    expect(platform.calls.list().map(({ method }) => method)).toEqual(["getMe", "getWebhookInfo"]);
  });

  test("names the bot of a refused token without showing the token", async () => {
    const { connection } = await look({ botToken: `${bot}:revoked` });
    const said = await connection.probe?.();
    expect(said).toMatchObject({
      ok: false,
      identity: { id: String(bot) },
      detail: expect.stringContaining("rejects the bot token"),
    });
    expect(said?.detail).not.toContain("revoked");
  });

  test("reports a leftover webhook of a polling account by its host only", async () => {
    const { connection, names, setWebhook } = await look();
    await setWebhook("http://127.0.0.1:9/secret");
    expect(await names()).toEqual(["webhook left over"]);
    expect(JSON.stringify(await connection.probe?.())).not.toContain("secret");
  });

  test("reports for a webhook account that the webhook is missing, different or failing", async () => {
    const webhookUrl = "http://127.0.0.1:9/hook";
    const { platform, names, setWebhook } = await look({ webhookUrl, webhookSecret: "secret-of-the-test" });
    expect(await names()).toEqual(["webhook not set"]);
    await setWebhook("http://127.0.0.1:9/other");
    expect(await names()).toEqual(["webhook not set"]);
    await setWebhook(webhookUrl);
    expect(await names()).toEqual([]);
    platform.act.say(1001, 1001, "hello");
    await expect.poll(names).toEqual(["webhook fails"]);
  });

  test("reports many waiting updates", async () => {
    const { platform, names } = await look();
    for (let count = 0; count <= 100; count += 1) platform.act.say(1001, 1001, "hello");
    expect(await names()).toEqual(["updates wait"]);
  });
});

describe("members", () => {
  test("a member is fine, and an administrator receives all messages", async () => {
    const { platform, connection } = await look();
    expect(await connection.members?.(String(kitchen))).toEqual({ ok: true, detail: "member", seesAll: false });
    platform.act.setMember(forum, bot, "administrator");
    expect(await connection.members?.(String(forum))).toEqual({ ok: true, detail: "administrator", seesAll: true });
    expect(callsOf(platform, "getChatMember").length).toBe(2);
  });

  test("a bot that left, was removed, restricted, moved or is unknown gets a matching remedy", async () => {
    const { platform, connection } = await look();
    const detail = async (chat: number) => (await connection.members?.(String(chat)))?.detail;
    for (const [status, remedy] of [
      ["left", "add it to the group"],
      ["kicked", "let an administrator add it again"],
      ["restricted", "let an administrator lift the restriction"],
    ] as const) {
      platform.act.setMember(kitchen, bot, status);
      expect(await connection.members?.(String(kitchen))).toMatchObject({
        ok: false,
        detail: expect.stringContaining(remedy),
      });
    }
    expect(await detail(-1_009_999_999_999)).toContain("correct the id");
    const group = platform.world.addGroup({ id: -4_000_001, type: "group", title: "Small" });
    platform.act.migrate(1001, group.chat.id);
    expect(await detail(group.chat.id)).toContain("has a new id");
  });
});
