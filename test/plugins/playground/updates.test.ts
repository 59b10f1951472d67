import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { burst, junkTexts } from "../../support/junk.ts";
import { ada, bela, kitchen, openPlatform, pause, workshop } from "./client.ts";

describe("long polling", () => {
  test("an update stays until a higher offset confirms it", async () => {
    await using home = await openPlatform();
    const first = (await home.call("getUpdates")).result;
    expect(first).toHaveLength(1);
    expect((await home.call("getUpdates")).result).toEqual(first);
    expect((await home.call("getUpdates", { offset: first[0].update_id + 1 })).result).toEqual([]);
    expect(home.platform.pending()).toBe(0);
  });

  test("a waiting poll is answered as soon as a person writes", async () => {
    await using home = await openPlatform();
    const [{ update_id }] = (await home.call("getUpdates")).result;
    const poll = home.call("getUpdates", { offset: update_id + 1, timeout: 20 });
    await pause(30);
    home.platform.act.say(ada, ada, "now");
    expect((await poll).result[0]).toMatchObject({
      update_id: update_id + 1,
      message: { text: "now", from: { id: ada } },
    });
  });

  test("a negative offset keeps only the latest updates, and a limit returns no more", async () => {
    await using home = await openPlatform();
    for (const text of ["a", "b", "c"]) home.platform.act.say(ada, ada, text);
    expect((await home.call("getUpdates", { limit: 2 })).result).toHaveLength(2);
    const last = (await home.call("getUpdates", { offset: -1 })).result;
    expect(last.map((update: { message: { text: string } }) => update.message.text)).toEqual(["c"]);
  });

  test("a second poller ends the first with 409", async () => {
    await using home = await openPlatform();
    const [{ update_id }] = (await home.call("getUpdates")).result;
    const first = home.call("getUpdates", { offset: update_id + 1, timeout: 20 });
    await pause(30);
    const second = home.call("getUpdates", { timeout: 20 });
    expect(await first).toMatchObject({
      status: 409,
      description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    });
    home.platform.act.say(ada, ada, "for the second");
    expect((await second).result).toHaveLength(1);
  });

  test("a disconnected client does not count as a poller", async () => {
    await using home = await openPlatform();
    const aborter = new AbortController();
    const url = `${home.platform.url}/bot7000000001:test-token/getUpdates?offset=200000000&timeout=20`;
    const left = fetch(url, { signal: aborter.signal }).catch(() => "left");
    await pause(30);
    aborter.abort();
    expect(await left).toBe("left");
    await pause(20);
    home.platform.act.say(ada, ada, "x");
    expect((await home.call("getUpdates")).result).toHaveLength(1);
  });

  test("only the requested kinds of updates are stored, and reactions must be requested", async () => {
    await using home = await openPlatform();
    home.platform.act.react(ada, ada, 1, ["🔥"]);
    expect(home.platform.pending()).toBe(1);
    await home.call("getUpdates", { offset: -1, allowed_updates: ["message_reaction"] });
    home.platform.act.say(ada, ada, "not wanted");
    home.platform.act.react(ada, ada, 1, ["👍"]);
    const updates = (await home.call("getUpdates", { offset: 100_000_002 })).result;
    expect(updates).toHaveLength(1);
    expect(updates[0].message_reaction).toMatchObject({
      user: { id: ada },
      old_reaction: [{ type: "emoji", emoji: "🔥" }],
      new_reaction: [{ type: "emoji", emoji: "👍" }],
    });
  });

  test("a waiting update shows the message as it was at that time", async () => {
    await using home = await openPlatform();
    home.platform.act.edit(ada, ada, 1, "/begin");
    const [said, edited] = (await home.call("getUpdates")).result;
    expect([said.message.text, edited.edited_message.text]).toEqual(["/start", "/begin"]);
  });
});

describe("privacy mode in groups", () => {
  const heard = async (said: readonly [string, object?][], privacy = true, admin = false) => {
    await using home = await openPlatform({
      bots: [{ token: "7000000001:test-token", username: "house_bot", name: "House", privacy }],
    });
    if (admin) home.platform.act.setMember(kitchen, 7_000_000_001, "administrator");
    const mine = (await home.call("sendMessage", { chat_id: kitchen, text: "I am here" })).result.message_id;
    for (const [text, options] of said)
      home.platform.act.say(bela, kitchen, text, { ...options, ...(text === "answer" ? { replyTo: mine } : {}) });
    const updates = (await home.call("getUpdates")).result as { message?: { text: string } }[];
    return updates.flatMap((update) =>
      update.message === undefined || update.message.text === "/start" ? [] : [update.message.text],
    );
  };
  const all: readonly [string][] = [
    ["plain"],
    ["hey @house_bot"],
    ["hey @house_bottle"],
    ["/do"],
    ["/do@house_bot"],
    ["/do@other_bot"],
    ["answer"],
  ];

  test("a member bot receives mentions, replies and commands meant for it", async () => {
    expect(await heard(all)).toEqual(["hey @house_bot", "/do", "/do@house_bot", "answer"]);
  });

  test("an administrator and a bot without privacy mode receive everything", async () => {
    expect(await heard(all, true, true)).toHaveLength(all.length);
    expect(await heard(all, false)).toHaveLength(all.length);
  });

  test("messages from bots reach no bot", async () => {
    await using home = await openPlatform();
    await home.call("sendMessage", { chat_id: workshop, text: "hello" });
    expect(home.platform.pending()).toBe(1);
  });
});

describe("webhook", () => {
  const target = async (statuses: number[] = [], reply = "") => {
    const requests: {
      readonly headers: IncomingMessage["headers"];
      readonly body: { update_id: number; message: { text: string } };
    }[] = [];
    const server = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk) => {
        text += chunk;
      });
      request.on("end", () => {
        requests.push({ headers: request.headers, body: JSON.parse(text) });
        response.writeHead(statuses.shift() ?? 200, { "content-type": "application/json" }).end(reply);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return {
      requests,
      url: `http://127.0.0.1:${port}/hook`,
      close: () => new Promise((resolve) => server.close(resolve)),
    };
  };
  const until = async (fits: () => boolean) => {
    for (let turn = 0; turn < 200 && !fits(); turn += 1) await pause(10);
    expect(fits()).toBe(true);
  };

  test("updates are posted with the secret and repeated until the response is 2xx", async () => {
    await using home = await openPlatform({ webhookRetryMs: 10 });
    const hook = await target([500, 503]);
    await home.call("setWebhook", { url: hook.url, secret_token: "s3cret" });
    await until(() => hook.requests.length === 3);
    expect(hook.requests.map((request) => request.body.update_id)).toEqual([100_000_001, 100_000_001, 100_000_001]);
    expect(hook.requests[0]?.headers["x-telegram-bot-api-secret-token"]).toBe("s3cret");
    const info = (await home.call("getWebhookInfo")).result;
    expect(info).toMatchObject({
      url: hook.url,
      pending_update_count: 0,
      last_error_message: expect.stringContaining("503"),
    });
    await hook.close();
  });

  test("updates of one chat are sent one after another, in order", async () => {
    await using home = await openPlatform({ webhookRetryMs: 10 });
    const hook = await target([500]);
    for (const text of ["b", "c"]) home.platform.act.say(ada, ada, text);
    await home.call("setWebhook", { url: hook.url });
    await until(() => home.platform.pending() === 0);
    expect(hook.requests.map((request) => request.body.message.text)).toEqual(["/start", "/start", "b", "c"]);
    await hook.close();
  });

  test("a response that names a method is a call", async () => {
    await using home = await openPlatform();
    const hook = await target([], JSON.stringify({ method: "sendMessage", chat_id: ada, text: "from the answer" }));
    const seen = home.platform.waitFor((event) => event.type === "message" && event.message.text === "from the answer");
    await home.call("setWebhook", { url: hook.url });
    await seen;
    await hook.close();
  });

  test("answers of a webhook that are no call are answers, whatever they are", {
    timeout: 60_000,
  }, async () => {
    await using home = await openPlatform();
    for (const text of [...junkTexts, "null\n".repeat(burst)]) {
      const hook = await target([], text);
      home.platform.act.say(ada, ada, "x");
      await home.call("setWebhook", { url: hook.url });
      await until(() => home.platform.pending() === 0 || hook.requests.length > 1);
      await home.call("deleteWebhook", { drop_pending_updates: true });
      await hook.close();
    }
  });

  test("polling gets 409 while a webhook is set, and works after deleteWebhook", async () => {
    await using home = await openPlatform();
    const hook = await target();
    await home.call("setWebhook", { url: hook.url, drop_pending_updates: true });
    const refused = await home.call("getUpdates");
    expect([refused.status, refused.description]).toEqual([
      409,
      "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    ]);
    await home.call("deleteWebhook");
    expect((await home.call("getUpdates")).result).toEqual([]);
    await hook.close();
  });

  test.each([
    ["ftp://127.0.0.1/x", {}, "bad webhook: An HTTPS URL must be provided for webhook"],
    ["https://example.com/x", {}, "bad webhook: the playground reaches loopback addresses only"],
    ["http://127.0.0.1:1/x", { secret_token: "no spaces" }, "secret token contains unallowed characters"],
  ])("%s is refused as a webhook", async (url, extra, reason) => {
    await using home = await openPlatform();
    expect((await home.call("setWebhook", { url, ...extra })).description).toBe(`Bad Request: ${reason}`);
  });
});
