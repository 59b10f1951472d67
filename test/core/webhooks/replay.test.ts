import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestHost, type TestHost } from "../../../core/testkit/index.ts";
import { createRecordings } from "../../../core/webhooks/endpoint/recordings.ts";

const token = "hook-token-for-replays";
const headers = { authorization: `Bearer ${token}` };
let host: TestHost;

beforeAll(async () => {
  host = await createTestHost({
    answer: (turn) => `heard ${turn.inbound.text.match(/(?<=---\n)(item|text) \w+/)?.[0]}`,
    config: {
      hooks: {
        token,
        exposeReplies: true,
        mappings: [
          { match: { path: "list" }, forEach: "items", messageTemplate: "item {{ items[0] }}", deliver: false },
          { match: { path: "names" }, body: "text", messageTemplate: "text wrong", deliver: false },
          {
            match: { path: "names" },
            body: "form",
            forEach: "name",
            messageTemplate: "item {{ name[0] }}",
            deliver: false,
          },
          { match: { path: "plain" }, body: "text", messageTemplate: "text {{ payload }}", deliver: false },
          { match: { path: "form" }, body: "form", messageTemplate: "text {{ word }}", deliver: false },
          { match: { path: "alarm" }, action: "wake", textTemplate: "{{ what }}", wakeMode: "next-heartbeat" },
        ],
      },
    },
  });
});
afterAll(() => host.close());

async function send(path: string, body: string, type = "application/json") {
  const answer = await host.deliver(path, body, { headers: { "content-type": type } });
  return answer.body as { readonly eventId: string; readonly eventIds?: readonly string[] };
}

async function replay(body: unknown, as?: string) {
  const response = await host.fetch("/gateway/hooks/replay", {
    method: "POST",
    headers: { ...(as === undefined ? {} : { authorization: `Bearer ${as}` }), "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: what the gateway answers is what is tested.
  return { status: response.status, json: (await response.json()) as any };
}

describe("replaying a delivery", () => {
  test("runs a single element of a list", async () => {
    const { eventIds = [] } = await send("list", '{"items":["a","b","c"]}');
    const { json } = await replay({ eventId: eventIds[1] });
    expect(json).toMatchObject({ ok: true, mapping: "list", eventIds: [expect.any(String)] });
    expect(await host.settled(json.eventIds[0])).toMatchObject({ reply: "heard item b" });
  });

  test("runs a single element of a list from a form through the mapping for forms", async () => {
    const { eventIds = [] } = await send("names", "name=ada&name=bela&name=carl", "application/x-www-form-urlencoded");
    expect(eventIds).toHaveLength(3);
    const { status, json } = await replay({ eventId: eventIds[1] });
    expect(status, json.error).toBe(200);
    expect(await host.settled(json.eventIds[0])).toMatchObject({ reply: "heard item bela" });
    const again = await replay({ eventId: json.eventIds[0] });
    expect(await host.settled(again.json.eventIds[0])).toMatchObject({ reply: "heard item bela" });
  });

  test("reads a text as text and a form as a form", async () => {
    const plain = await replay({ eventId: (await send("plain", "hello", "text/plain")).eventId });
    expect(await host.settled(plain.json.eventIds[0])).toMatchObject({ reply: "heard text hello" });
    const form = await replay({
      eventId: (await send("form", "word=world", "application/x-www-form-urlencoded")).eventId,
    });
    expect(await host.settled(form.json.eventIds[0])).toMatchObject({ reply: "heard text world" });
  });

  test("makes a wake wait for the next heartbeat again", async () => {
    const { json } = await replay({ eventId: (await send("alarm", '{"what":"fire"}')).eventId });
    expect(json).toMatchObject({ ok: true, mapping: "alarm", eventIds: [expect.any(String)] });
  });

  test("gives the run the authority of a hook", async () => {
    const { eventId } = await send("plain", "hello", "text/plain");
    const { json } = await replay({ eventId });
    await host.settled(json.eventIds[0]);
    const db = new DatabaseSync(join(host.directory, "state", "state.db"), { readOnly: true });
    expect(db.prepare("SELECT authority FROM inbox WHERE id = ?").get(json.eventIds[0])).toEqual({ authority: "hook" });
    db.close();
  });

  test("is rejected for an endpoint event, a chat message and an unknown id", async () => {
    const chat = await host.say("hello");
    const agent = await send("agent", '{"message":"item x","deliver":false}');
    for (const eventId of [chat.eventId, agent.eventId, "nothing", ""]) {
      expect(await replay({ eventId }), eventId).toMatchObject({ status: 404, json: { ok: false, code: "not_found" } });
    }
    expect(await replay({})).toMatchObject({ status: 400, json: { code: "invalid_payload" } });
  });

  test("requires the gateway token, and the hook token is not accepted", async () => {
    const { eventId } = await send("plain", "hello", "text/plain");
    expect((await replay({ eventId }, token)).status).toBe(401);
    const record = await host.fetch("/gateway/hooks/record?path=plain", { headers });
    expect(record.status).toBe(401);
  });
});

describe("recordings", () => {
  const posted = (path: string, body: string) => ({
    path,
    headers: {},
    query: {},
    type: {},
    body: Buffer.from(body),
    now: "",
  });

  test("capture the next readable delivery to their path, once", async () => {
    const recordings = createRecordings({ secrets: () => [] });
    const events = recordings.next("/ci/")[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual({ waiting: true });
    const next = events.next();
    recordings.offer(posted("other", "{}"), ["json"]);
    recordings.offer(posted("ci", "{"), ["json"]);
    recordings.offer(posted("ci", '{"n":1}'), ["json"]);
    recordings.offer(posted("ci", '{"n":2}'), ["json"]);
    expect((await next).value).toMatchObject({ fixture: { $delivery: 1, path: "ci", payload: { n: 1 } }, removed: 0 });
    expect((await events.next()).done).toBe(true);
  });

  test("are limited in number; a reader that leaves frees its slot, even while waiting", async () => {
    const recordings = createRecordings({ secrets: () => [] });
    const readers = Array.from({ length: 32 }, () => recordings.next("ci")[Symbol.asyncIterator]());
    expect(() => recordings.next("ci")).toThrow("32 recordings are already waiting.");
    await readers[0]?.next();
    const waiting = readers[0]?.next();
    await readers[0]?.return?.();
    expect(await waiting).toMatchObject({ done: true });
    expect(() => recordings.next("ci")).not.toThrow();
  });
});
