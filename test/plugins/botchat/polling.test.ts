/** Polling against the emulated platform, with its faults and with short waits. */
import { mkdirSync, mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "service-gateway/sdk";
import { aroundEach, describe, test } from "vitest";
import { updateKinds } from "../../../plugins/botchat/intake/parse.ts";
import { expect, inOwnTest, onTestFinished } from "../../support/own-test.ts";
import { createTestAccount, openConnection, until } from "./account.ts";
import { ada, callsOf, openPlatform, quick, start, token } from "./platform.ts";

aroundEach(inOwnTest);

const lastStatus = (account: { statuses: readonly object[] }) =>
  account.statuses.at(-1) as { state: string; detail?: string };

describe("when the platform does not respond properly", () => {
  // Alone, because it measures how long it waits. Tried again: the machine may do something else in the last wait.
  test("waits grow while it fails and are reset after a success", { retry: 3 }, async () => {
    const { platform, account } = await start({ polling: { ...quick, minDelayMs: 20, maxDelayMs: 2_000 } });
    const conflict = {
      method: "getUpdates",
      kind: "refuse",
      status: 409,
      description: "Conflict: terminated by other getUpdates request",
    } as const;
    const waits = async (times: number) => {
      platform.faults.add({ ...conflict, times });
      const began = performance.now();
      await until(() => lastStatus(account).state === "waiting", "the conflict");
      await until(() => lastStatus(account).state === "connected", "the end of the conflict");
      return performance.now() - began;
    };
    platform.act.say(ada, ada, "so that the poll ends");
    // 20, 36, 65, 117, 210, 378: more than 800 ms together, and the last wait alone would be half of that.
    expect(await waits(6)).toBeGreaterThan(800);
    platform.act.say(ada, ada, "again");
    await until(() => account.received.length === 2, "the success");
    const calls = callsOf(platform, "getUpdates").length;
    platform.faults.add({ ...conflict, times: 1 });
    platform.act.say(ada, ada, "and again");
    await until(() => callsOf(platform, "getUpdates").length > calls, "the conflict");
    const began = performance.now();
    await until(() => account.received.length === 3, "the next success");
    expect(performance.now() - began).toBeLessThan(600);
  });
});

describe.concurrent("commit before confirm", () => {
  test("an update is confirmed by the next call's offset only after it is committed", async () => {
    const { platform, account } = await start();
    let commit: () => void = () => {};
    account.onReceive = () =>
      new Promise((resolve) => {
        commit = resolve;
      });
    platform.act.say(ada, ada, "one");
    await until(
      () => callsOf(platform, "getUpdates").length >= 1 && commit !== undefined,
      "the update is being committed",
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(platform.pending()).toBe(1);
    account.onReceive = async () => {};
    commit();
    await until(() => platform.pending() === 0, "the update is confirmed");
  });

  test("if the commit fails, the same updates return, and the status reports it", async () => {
    const { platform, account } = await start();
    let failures = 2;
    account.onReceive = async () => {
      if (failures-- > 0) throw new Error("disk full");
    };
    platform.act.say(ada, ada, "one");
    await until(() => account.received.length === 1, "the update is stored at the third try");
    expect(
      account.statuses.some((status) => status.state === "waiting" && /could not be stored/.test(status.detail ?? "")),
    ).toBe(true);
    await until(() => platform.pending() === 0, "the update is confirmed");
    expect(account.received).toHaveLength(1);
  });

  test("the first part of a long text is committed only after the pending continuation is stored", async () => {
    const { platform, account } = await start();
    const { promise: storing, resolve: stored } = Promise.withResolvers<void>();
    let asked = false;
    account.onStore = () => {
      asked = true;
      return storing;
    };
    platform.act.paste(ada, ada, "x".repeat(5_000));
    await until(() => asked, "the note is being stored");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(account.received).toEqual([]);
    stored();
    await until(() => account.received.length === 2, "both parts");
  });

  test("a batch stays on the platform while the gateway is full; a closing account accepts nothing", async () => {
    const { platform, account, connection } = await start();
    const asked: (() => void)[] = [];
    account.onRoom = () => new Promise((resolve) => void asked.push(resolve));
    platform.act.say(ada, ada, "one");
    await until(() => asked.length === 1, "the update was fetched");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([account.received.length, platform.pending()]).toEqual([0, 1]);
    asked[0]?.();
    await until(() => platform.pending() === 0, "it is taken in and confirmed");
    platform.act.say(ada, ada, "two");
    await until(() => asked.length === 2, "the next one was fetched");
    const closed = connection.close();
    asked[1]?.();
    await closed;
    expect([account.received.length, platform.pending()]).toEqual([1, 1]);
  });

  test("capacity is checked again within a batch, and the rest of a partly stored one returns", async () => {
    const platform = await openPlatform();
    for (let index = 0; index < 60; index += 1) platform.act.say(ada, ada, `message ${index}`);
    const account = createTestAccount({ botToken: token, apiRoot: platform.url, polling: quick });
    const asked: (() => void)[] = [];
    account.onRoom = () => new Promise((resolve) => void asked.push(resolve));
    await openConnection(account).start();
    await until(() => asked.length === 1, "a batch was fetched");
    asked[0]?.();
    await until(() => asked.length === 2, "it asks for more room");
    const first = account.received.map(({ id }) => id);
    expect([first.length, platform.pending()]).toEqual([25, 60]);
    account.onRoom = () => undefined;
    let failures = 1;
    account.onReceive = async () => {
      if (failures-- > 0) throw new Error("disk full");
    };
    asked[1]?.();
    await until(() => platform.pending() === 0, "everything is stored and confirmed");
    expect(account.statuses.some(({ state }) => state === "waiting")).toBe(true);
    const ids = account.received.map(({ id }) => id);
    expect(new Set(ids).size).toBe(60);
    expect(ids.filter((id) => first.includes(id))).toEqual(first);
  });

  test("a batch is submitted in order within one turn of the event loop", async () => {
    const platform = await openPlatform();
    const account = createTestAccount({ botToken: token, apiRoot: platform.url, polling: quick });
    const turns = new Set<number>();
    let turn = 0;
    const count = setInterval(() => {}, 1_000);
    const tick = () => {
      turn += 1;
      immediate = setImmediate(tick);
    };
    let immediate = setImmediate(tick);
    account.onReceive = async () => void turns.add(turn);
    for (const text of ["one", "two", "three"]) platform.act.say(ada, ada, text);
    const connection = openConnection(account);
    await connection.start();
    await until(() => account.received.length === 3, "three updates");
    clearImmediate(immediate);
    clearInterval(count);
    expect(account.received.map(({ raw }) => (raw as { message: { text: string } }).message.text)).toEqual([
      "one",
      "two",
      "three",
    ]);
    expect(turns.size).toBe(1);
  });

  test("an update that an earlier process did not confirm returns with the same id", async () => {
    const platform = await openPlatform();
    const first = createTestAccount({ botToken: token, apiRoot: platform.url, polling: quick });
    first.onReceive = () => new Promise(() => {});
    platform.act.say(ada, ada, "one");
    await openConnection(first).start();
    await until(() => callsOf(platform, "getUpdates").length > 0, "the first poll");
    first.close.abort();
    const second = createTestAccount({ botToken: token, apiRoot: platform.url, polling: quick });
    await openConnection(second).start();
    await until(() => second.received.length === 1, "the update again");
    expect(second.received[0]).toMatchObject({ id: "100000001", identity: "7000000001" });
  });

  test("only the supported kinds of updates are requested", async () => {
    const { platform } = await start();
    await until(() => callsOf(platform, "getUpdates").length > 0, "a poll");
    expect(callsOf(platform, "getUpdates")[0]?.params.allowed_updates).toEqual([...updateKinds]);
  });
});

describe.concurrent("when the platform does not respond properly", () => {
  test("another poller is reported in the status, and polling resumes once it stops", async () => {
    const { platform, account } = await start();
    platform.faults.add({
      method: "getUpdates",
      times: 2,
      kind: "refuse",
      status: 409,
      description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    });
    await until(() => /another program polls/.test(lastStatus(account).detail ?? ""), "the conflict");
    await until(() => lastStatus(account).state === "connected", "the end of the conflict");
  });

  test("a webhook that is set later is reported as the cause and removed", async () => {
    const { platform, account } = await start();
    platform.faults.add({
      method: "getUpdates",
      times: 1,
      kind: "refuse",
      status: 409,
      description:
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    });
    await until(() => account.statuses.some(({ detail }) => /a webhook is set/.test(detail ?? "")), "the conflict");
    await until(() => callsOf(platform, "deleteWebhook").length === 1, "the removal");
  });

  test("a webhook left from an earlier setup is removed before the first poll", async () => {
    const platform = await openPlatform();
    await fetch(`${platform.url}/bot${token}/setWebhook`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ url: "http://127.0.0.1:9/x" }),
    });
    const { account } = await start({}, { platform });
    platform.act.say(ada, ada, "one");
    await until(() => account.received.length === 1, "the update");
  });

  test("401 at startup fails the account with a remedy and without a retry", async () => {
    const platform = await openPlatform();
    const account = createTestAccount({ botToken: "7000000001:wrong", apiRoot: platform.url, polling: quick });
    await expect(openConnection(account).start()).rejects.toMatchObject({ reason: "unauthorized" });
    expect(lastStatus(account)).toMatchObject({
      state: "failed",
      code: "unauthorized",
      detail: "the platform rejects the bot token",
    });
  });

  test("404 at startup blames the address before the token", async () => {
    const platform = await openPlatform();
    // As the platform answers an address that ends in /bot.
    platform.faults.add({ method: "getMe", times: 1, kind: "refuse", status: 404, description: "Not Found" });
    const account = createTestAccount({ botToken: token, apiRoot: platform.url, polling: quick });
    await expect(openConnection(account).start()).rejects.toMatchObject({ reason: "unauthorized" });
    expect(lastStatus(account)).toMatchObject({
      state: "failed",
      detail: "the server at apiRoot does not know the bot (404)",
      hint: expect.stringMatching(/^Check apiRoot: it ends before \/bot/),
    });
  });

  test("401 later stops the account with a remedy", async () => {
    const { platform, account } = await start();
    platform.faults.add({ method: "getUpdates", times: 1, kind: "refuse", status: 401, description: "Unauthorized" });
    await until(() => lastStatus(account).state === "failed", "the stop");
    const calls = callsOf(platform, "getUpdates").length;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(callsOf(platform, "getUpdates")).toHaveLength(calls);
  });

  test.each(["reset-before", "reset-after", "garbage", "status"] as const)(
    "%s: the account waits, reports it, and loses nothing",
    async (kind) => {
      const { platform, account } = await start();
      platform.faults.add({ method: "getUpdates", times: 3, kind, ...(kind === "status" && { status: 502 }) });
      platform.act.say(ada, ada, "one");
      await until(() => account.received.length > 0, "the update");
      await until(() => platform.pending() === 0 && lastStatus(account).state === "connected", "all is well again");
      expect(new Set(account.received.map(({ id }) => id)).size).toBe(1);
      expect(account.statuses.some(({ state }) => state === "waiting")).toBe(true);
    },
  );

  test("an unreachable platform at startup is retried until it responds", async () => {
    const platform = await openPlatform();
    platform.faults.add({ method: "getMe", times: 3, kind: "reset-before" });
    const { account } = await start({}, { platform });
    expect(account.statuses.map(({ state }) => state)).toContain("waiting");
    expect(lastStatus(account)).toMatchObject({
      state: "connected",
      identity: { id: "7000000001", username: "house_bot", name: "House" },
    });
  });

  test("the watchdog reconnects when no getUpdates completes in time", async () => {
    const { platform, account } = await start({ polling: { ...quick, stallSeconds: 0.4 } });
    platform.faults.add({ method: "getUpdates", times: 1, kind: "drop" });
    platform.act.say(ada, ada, "one");
    await until(() => account.logs.some(({ message }) => /reconnecting/.test(message)), "the watchdog");
    await until(() => account.received.length === 1 && platform.pending() === 0, "the update");
  });

  test("the watchdog also ends a response that trickles in and never completes", async () => {
    let polls = 0;
    const drips: NodeJS.Timeout[] = [];
    const server = createServer((request, response) => {
      request.resume();
      const url = request.url ?? "";
      if (url.endsWith("/getMe"))
        return void response.end(
          JSON.stringify({ ok: true, result: { id: 7000000001, is_bot: true, first_name: "House" } }),
        );
      if (!url.endsWith("/getUpdates")) return void response.end(JSON.stringify({ ok: true, result: { url: "" } }));
      polls += 1;
      response.write('{"ok":true,"result":[');
      drips.push(setInterval(() => response.write(" "), 50));
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      for (const drip of drips) clearInterval(drip);
      server.closeAllConnections();
      server.close();
    });
    const apiRoot = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const account = createTestAccount({ botToken: token, apiRoot, polling: { ...quick, stallSeconds: 0.4 } });
    await openConnection(account).start();
    await until(() => polls >= 2, "another poll");
    expect(account.logs.some(({ message }) => /reconnecting/.test(message))).toBe(true);
    expect(account.statuses.some(({ detail }) => /getUpdates: no answer \(TIMEOUT/.test(detail ?? ""))).toBe(true);
  });

  test("updates without an id do not cause requests without a pause", async () => {
    let polls = 0;
    const server = createServer((request, response) => {
      request.resume();
      const me = request.url?.endsWith("/getMe") === true;
      if (request.url?.endsWith("/getUpdates") === true) polls += 1;
      response.end(
        JSON.stringify({
          ok: true,
          result: me ? { id: 7000000001, is_bot: true, first_name: "House" } : [{ junk: true }],
        }),
      );
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const apiRoot = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const account = createTestAccount({
      botToken: token,
      apiRoot,
      polling: { timeoutSeconds: 1, minDelayMs: 200, maxDelayMs: 200 },
    });
    const began = performance.now();
    await openConnection(account).start();
    await until(() => lastStatus(account).state === "waiting", "the wait");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(polls).toBeLessThanOrEqual(1 + (performance.now() - began) / 150);
  });

  test("a flood wait is respected in full", async () => {
    const { platform, account } = await start();
    platform.faults.add({ method: "getUpdates", times: 1, kind: "flood", retryAfter: 1 });
    await until(() => lastStatus(account).state === "waiting", "the wait");
    const began = performance.now();
    await until(() => lastStatus(account).state === "connected", "the end of it");
    expect(performance.now() - began).toBeGreaterThan(900);
  });
});

describe.concurrent("the token and the bot's name", () => {
  const openWith = (options: object) => openConnection(createTestAccount(options));

  test("an account with a missing or invalid token does not open and reports what to set", () => {
    expect(() => openWith({})).toThrow(/there is no bot token/);
    expect(() => openWith({ botToken: "not/a token" })).toThrow(/the bot token is malformed/);
  });

  test("the bot's name is known at the next start before the platform responds", async () => {
    const directory = mkdtempSync(join(tmpdir(), "botchat-"));
    mkdirSync(directory, { recursive: true });
    const platform = await openPlatform();
    await start({}, { platform, directory });
    const update: Json = {
      update_id: 1,
      message: {
        message_id: 1,
        date: 1,
        chat: { id: -5, type: "group" },
        from: { id: 2 },
        text: "@house_bot hi",
        entities: [{ type: "mention", offset: 0, length: 10 }],
      },
    };
    const again = openConnection(createTestAccount({ botToken: token }, { directory }));
    expect(again.parse(update)).toMatchObject({ mention: true });
  });

  test("neither logs nor errors contain the token", async () => {
    const { platform, account } = await start({ polling: { ...quick } });
    platform.faults.add({ method: "*", times: 4, kind: "reset-before" });
    await until(() => account.statuses.filter(({ state }) => state === "waiting").length >= 1, "a failure");
    expect(JSON.stringify([account.logs, account.statuses])).not.toContain("connection-test");
  });
});
