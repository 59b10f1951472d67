import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { ada, openPlatform, token, workshop } from "./client.ts";

const json = { "content-type": "application/json" };

function post(
  url: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(url + path, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) });
}

/** With a `Host` of one's own choice, which fetch does not allow. */
function statusWithHost(url: string, host: string, path = "/_playground/state"): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on("error", reject).end();
  });
}

describe("the files of the page", () => {
  test("are served with a strict policy and their own types", async () => {
    await using home = await openPlatform();
    for (const [path, type] of [
      ["/", "text/html"],
      ["/page.js", "text/javascript"],
      ["/room.css", "text/css"],
      ["/icon.svg", "image/svg+xml"],
    ] as const) {
      const answer = await fetch(home.platform.url + path);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, expect.stringContaining(type)]);
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'");
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    }
    expect((await fetch(`${home.platform.url}/../index.ts`)).status).toBe(404);
  });
});

describe("access to the playground", () => {
  test("a request from another origin or site cannot change anything", async () => {
    await using home = await openPlatform();
    const { url } = home.platform;
    const say = { do: "say", person: ada, text: "x" };
    expect((await post(url, "/_playground/act", say, { origin: "https://example.com" })).status).toBe(403);
    expect((await post(url, "/_playground/act", say, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await post(url, "/_playground/act", say, { origin: url })).status).toBe(200);
    expect((await post(url, "/_playground/act", say)).status).toBe(200);
  });

  test("a host name other than this machine's is rejected, even for reading", async () => {
    await using home = await openPlatform();
    expect(await statusWithHost(home.platform.url, "evil.example:80")).toBe(403);
    expect(await statusWithHost(home.platform.url, "localhost:80")).toBe(200);
  });

  test("a page of another site cannot call the bot with the publicly known demo token", async () => {
    await using home = await openPlatform();
    const { url } = home.platform;
    const updates = `/bot${token}/getUpdates?offset=9999999999`;
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://example.com" }]) {
      const answer = await fetch(url + updates, { headers });
      expect([answer.status, await answer.json()]).toEqual([
        403,
        expect.objectContaining({ ok: false, error_code: 403 }),
      ]);
    }
    expect(await statusWithHost(url, "evil.example:80", updates)).toBe(403);
    expect(await statusWithHost(url, "evil.example:80", `/file/bot${token}/x`)).toBe(403);
    for (const headers of [{}, { origin: url }, { "sec-fetch-site": "none" }])
      expect((await fetch(`${url}/bot${token}/getMe`, { headers })).status).toBe(200);
  });

  test("the server listens only on loopback", async () => {
    await expect(openPlatform({ host: "0.0.0.0" })).rejects.toThrow(/loopback only/);
  });
});

describe("actions over HTTP", () => {
  test("a person can write, edit, react, press and delete", async () => {
    await using home = await openPlatform();
    const act = async (action: object) =>
      (await (await post(home.platform.url, "/_playground/act", { person: ada, ...action })).json()) as {
        messages: { message_id: number }[];
        callbackId: string;
      };
    const message = (await act({ do: "say", text: "hello" })).messages[0]?.message_id;
    await act({ do: "edit", message, text: "hello there" });
    await act({ do: "react", message, emoji: ["👍"] });
    const keyboard = { inline_keyboard: [[{ text: "Go", callback_data: "go" }]] };
    const sent = (await home.call("sendMessage", { chat_id: ada, text: "x", reply_markup: keyboard })).result
      .message_id;
    expect((await act({ do: "press", message: sent, data: "go" })).callbackId).toMatch(/^[0-9]+$/);
    await act({ do: "remove", message });
    const kinds = ((await home.call("getUpdates")).result as object[]).map((update) => Object.keys(update)[1]);
    expect(kinds).toEqual(["message", "message", "edited_message", "callback_query"]);
  });

  test("a text that is too long for one message is split as an app splits it", async () => {
    await using home = await openPlatform();
    const text = `${"word ".repeat(815)}${"x".repeat(4_200)} end`;
    const answer = await post(home.platform.url, "/_playground/act", { do: "say", person: ada, text });
    const { messages } = (await answer.json()) as { messages: { message_id: number; text: string }[] };
    expect(messages.map((message) => message.text.length)).toEqual([4_074, 4_096, 108]);
    expect(messages.map((message) => message.message_id - (messages[0]?.message_id ?? 0))).toEqual([0, 1, 2]);
    expect(messages.map((message) => message.text).join("")).toBe(text.replace("word xxx", "wordxxx"));
  });

  test("files arrive as multipart, and several form an album", async () => {
    await using home = await openPlatform();
    const body = new FormData();
    body.set("json", JSON.stringify({ do: "say", person: ada, text: "two" }));
    body.set("a", new File(["1"], "a.txt", { type: "text/plain" }));
    body.set("b", new File(["2"], "b.txt", { type: "text/plain" }));
    const answer = await fetch(`${home.platform.url}/_playground/act`, { method: "POST", body });
    const { messages } = (await answer.json()) as {
      messages: { caption?: string; media_group_id: string; document: { file_id: string } }[];
    };
    expect(messages.map((message) => message.caption)).toEqual(["two", undefined]);
    expect(messages[0]?.media_group_id).toBe(messages[1]?.media_group_id);
    const file = await fetch(`${home.platform.url}/_playground/files/${messages[0]?.document.file_id}`);
    expect(file.headers.get("content-disposition")).toMatch(/^attachment/);
    expect(file.headers.get("content-security-policy")).toContain("sandbox");
  });

  test.each([
    [{ do: "dance", person: ada }, /do: one of/],
    [{ do: "say", person: 99, text: "x" }, /no person 99/],
    [{ do: "say", person: ada, chat: 1002, text: "x" }, /another person's direct chat/],
    [{ do: "say", person: ada, text: "" }, /a text or a file/],
    [{ do: "say", person: "ada", text: "x" }, /person: a whole number/],
    [{ do: "press", person: ada, message: 1, data: "x" }, /no button/],
    [{ do: "react", person: ada, message: 1, emoji: ["🧀"] }, /not a reaction/],
  ])("%j is rejected with an explanation", async (action, reason) => {
    await using home = await openPlatform();
    const answer = await post(home.platform.url, "/_playground/act", action);
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: string }).error).toMatch(reason);
  });
});

describe("faults and calls over HTTP", () => {
  test("faults can be added, listed and cleared; invalid ones are rejected", async () => {
    await using home = await openPlatform();
    const { url } = home.platform;
    expect((await post(url, "/_playground/faults", { kind: "explode" })).status).toBe(400);
    expect((await post(url, "/_playground/faults", { kind: "flood", times: 0 })).status).toBe(400);
    await post(url, "/_playground/faults", { method: "getMe", kind: "flood", retryAfter: 3 });
    expect((await home.call("getMe")).status).toBe(429);
    await post(url, "/_playground/faults", { kind: "drop", times: 5 });
    const cleared = await fetch(`${url}/_playground/faults`, { method: "DELETE" });
    expect(await cleared.json()).toEqual({ faults: [] });
    const { calls } = (await (await fetch(`${url}/_playground/calls`)).json()) as { calls: object[] };
    expect(calls).toMatchObject([{ method: "getMe", status: 429, fault: "flood" }]);
  });
});

describe("state and events", () => {
  test("the state contains people, chats, topics and messages", async () => {
    await using home = await openPlatform();
    // biome-ignore lint/suspicious/noExplicitAny: only looked into
    const state = (await (await fetch(`${home.platform.url}/_playground/state`)).json()) as any;
    expect(state.people.map((person: { first_name: string }) => person.first_name)).toEqual(["Ada", "Bela", "Chen"]);
    const forum = state.rooms.find((room: { chat: { id: number } }) => room.chat.id === workshop);
    expect(forum.topics.map((topic: { name: string }) => topic.name)).toEqual(["General", "Ideas", "Repairs"]);
  });

  test("activity is sent as events", async () => {
    await using home = await openPlatform();
    const answer = await fetch(`${home.platform.url}/_playground/events`);
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    home.platform.act.say(ada, ada, "seen");
    let text = "";
    while (!text.includes('"seen"')) text += Buffer.from((await reader.read()).value ?? []).toString();
    expect(text).toContain('data: {"type":"message"');
    await reader.cancel();
  });
});
