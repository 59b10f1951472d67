/** Bodies as their senders post them: files, XML, compressed, lists, and none at all. */
import { createHmac, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../core/cli/command-runner.ts";
import { temporaryDirectory } from "../support/directory.ts";
import type { Post } from "../support/wire.ts";
import { anotherClient, bearer, closeHookGateways, type HookGateway, jsonType, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

const secret = "the-secret-of-the-sender";
const wake = { action: "wake", wakeMode: "next-heartbeat", textTemplate: "{{ payload }}" } as const;
const quiet = { deliver: false, wakeMode: "next-heartbeat", messageTemplate: "{{ payload }}" } as const;
const signature = { scheme: "hmac", header: "X-Sig", secret, dedupe: "body" } as const;

let room: HookGateway;
beforeAll(async () => {
  room = await startHookGateway({
    config: { agents: { defaults: { heartbeat: { every: "0" } } } },
    hooks: {
      maxBodyBytes: 20_000,
      mappings: [
        { match: { path: "form" }, ...quiet, body: "form" },
        { match: { path: "feed" }, ...wake, body: "text" },
        { match: { path: "json" }, ...wake },
        { match: { path: "signed" }, ...wake, signature },
        {
          match: { path: "events" },
          ...wake,
          forEach: "payload",
          textTemplate: "{{ [0].event }} of {{ payload[0].email }}",
        },
        { match: { path: "nested" }, ...wake, forEach: "payload", textTemplate: "{{ payload.payload[0] }}" },
        {
          id: "door-get",
          match: { path: "door", where: { state: "open" } },
          method: "GET",
          ...wake,
          textTemplate: "{{ state }} {{ payload }}",
        },
        { id: "door-post", match: { path: "door" }, ...wake, textTemplate: "posted {{ payload }}" },
        { match: { path: "button" }, method: "GET", ...quiet, messageTemplate: "pressed {{ n }}" },
        {
          match: { path: "signed-get" },
          method: "GET",
          ...wake,
          signature: { scheme: "hmac", header: "X-Sig", secret, payload: "{url}{body}" },
        },
      ],
    },
  });
});

const send = (request: Post) =>
  room.send({ ...request, headers: [anotherClient(), ...(request.headers ?? [bearer, jsonType])] });
const command = async (...args: readonly string[]) =>
  run([...args, "--config", room.host.configFile, "--state", room.stateDirectory], { home: temporaryDirectory() });

/** What the agent would read: the text of the event that an answer names. */
async function textOf(answer: { readonly json: Readonly<Record<string, unknown>> | undefined }): Promise<string> {
  const { out } = await command("hooks", "show", String(answer.json?.eventId), "--json");
  return (JSON.parse(out) as { readonly text: string }).text;
}

/** Runs a delivery again through its mapping, once it has ended. */
async function replay(eventId: string): Promise<void> {
  let code: number | null = null;
  for (let attempt = 0; attempt < 50 && code !== 0; attempt += 1)
    ({ code } = await command("hooks", "replay", eventId, "--remap"));
  expect(code).toBe(0);
}

// That of SendGrid, which is shorter than many parsers accept.
const boundary = "xYzZY";
const part = (headers: string, body: string | Buffer) =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${headers}\r\n\r\n`),
    Buffer.from(body),
    Buffer.from("\r\n"),
  ]);
const multipart = (...parts: readonly Buffer[]): Post => ({
  target: "/hooks/form",
  headers: [bearer, ["content-type", `multipart/form-data; boundary=${boundary}`]],
  body: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]),
});

describe("multipart/form-data", () => {
  test("fields become texts; of a file, only the name, type and size are stored", async () => {
    const image = randomBytes(5_000);
    const answer = await send(
      multipart(
        part('name="payload"', '{"event":"media.play"}'),
        part('name="tag"', "a"),
        part('name="tag"', "Grüße"),
        part('name="name"; filename="ignored"', ""),
        part('name="thumb"; filename="C:\\fakepath\\Käse.jpg"\r\nContent-Type: image/jpeg', image),
        part('name="__proto__"', "x"),
      ),
    );
    expect(answer.status).toBe(202);
    const { out } = await command("hooks", "show", String(answer.json?.eventId), "--json");
    const shown = JSON.parse(out) as { readonly delivery: { readonly body: string }; readonly text: string };
    expect(JSON.parse(shown.delivery.body)).toEqual({
      payload: '{"event":"media.play"}',
      tag: ["a", "Grüße"],
      name: { name: "ignored", type: "text/plain", size: 0 },
      thumb: { name: "Käse.jpg", type: "image/jpeg", size: 5_000 },
    });
    expect(out.length).toBeLessThan(4_000);
    await replay(String(answer.json?.eventId));
  });

  test("texts in older encodings are decoded, in parts and percent-encoded", async () => {
    const latin = await send(multipart(part('name="city"', Buffer.from("M\xfcnchen", "latin1"))));
    expect(await textOf(latin)).toContain('{"city":"München"}');
    const form = {
      target: "/hooks/form",
      headers: [bearer, ["content-type", "application/x-www-form-urlencoded"]],
    } as const;
    expect(await textOf(await send({ ...form, body: "a=caf%E9+1%2B1&b=%C3%A9&%FC=%80&c=&d" }))).toContain(
      '{"a":"café 1+1","b":"é","ü":"€","c":"","d":""}',
    );
  });

  test.each([
    ["without a boundary", 400, { headers: [bearer, ["content-type", "multipart/form-data"]] }],
    ["that is cut", 400, { body: Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\nb`) }],
    ["that is not multipart", 400, { body: Buffer.from("a=b") }],
    ["empty", 400, { body: Buffer.alloc(0) }],
    ["for a mapping of JSON", 415, { target: "/hooks/json" }],
    [
      "with too many parts",
      413,
      {
        body: Buffer.concat([
          ...Array<Buffer>(1_001).fill(Buffer.from(`--${boundary}\r\n\r\n\r\n`)),
          Buffer.from(`--${boundary}--`),
        ]),
      },
    ],
    ["too large", 413, { body: Buffer.alloc(20_001) }],
  ] as const)("a body %s gets %i", async (_name, status, change) => {
    expect(await send({ ...multipart(part('name="a"', "b")), ...(change as Partial<Post>) })).toMatchObject({ status });
  });
});

test("XML and JSON lines are texts", async () => {
  const feed = '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Grüße &amp; more</title></feed>';
  for (const type of [
    "application/xml",
    "application/atom+xml; charset=UTF-8",
    "application/soap+xml",
    "text/xml",
    "application/x-ndjson",
  ]) {
    const answer = await send({ target: "/hooks/feed", headers: [bearer, ["content-type", type]], body: feed });
    expect(answer.status, type).toBe(200);
    expect(await textOf(answer)).toContain(feed);
  }
});

describe("compressed bodies", () => {
  const compress = { gzip: gzipSync, "x-gzip": gzipSync, deflate: deflateSync, "deflate ": deflateRawSync } as const;
  const encoded = (coding: string) => ["content-encoding", coding] as const;

  test("gzip and deflate are decompressed for every endpoint", async () => {
    for (const [coding, pack] of Object.entries(compress)) {
      const body = pack(JSON.stringify({ text: `packed by ${coding}`, mode: "next-heartbeat" }));
      for (const target of ["/hooks/json", "/hooks/wake"]) {
        const answer = await send({ target, headers: [bearer, jsonType, encoded(coding)], body });
        expect(answer.status, `${target} ${coding}`).toBe(200);
        expect(await textOf(answer)).toContain(`packed by ${coding}`);
      }
    }
    expect((await send({ target: "/hooks/json", headers: [bearer, jsonType, encoded("gzip")] })).status).toBe(200);
  });

  test("the limit applies to the decompressed size, and a bomb is stopped long before its end", async () => {
    const json = (length: number) => JSON.stringify({ a: "x".repeat(length - 8) });
    const post = (body: Buffer, coding = "gzip") =>
      send({ target: "/hooks/json", headers: [bearer, jsonType, encoded(coding)], body });
    expect((await post(gzipSync(json(20_000)))).status).toBe(200);
    expect(await post(gzipSync(json(20_001)))).toMatchObject({
      status: 413,
      json: { error: "The unpacked body is larger than 20000 bytes." },
    });
    const bomb = gzipSync(Buffer.alloc(15_000_000));
    expect(bomb.length).toBeLessThan(20_000);
    const before = process.memoryUsage().rss;
    for (let count = 0; count < 20; count += 1) expect((await post(bomb)).status).toBe(413);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  test("invalid compressed data gets 400, and nothing is decompressed without the token", async () => {
    for (const body of [Buffer.from("no gzip"), gzipSync("{}").subarray(0, 12), randomBytes(100)])
      expect(await send({ target: "/hooks/json", headers: [bearer, jsonType, encoded("gzip")], body })).toMatchObject({
        status: 400,
        json: { code: "bad_request" },
      });
    expect(
      (await send({ target: "/hooks/json", headers: [jsonType, encoded("gzip")], body: gzipSync("{}") })).status,
    ).toBe(401);
    expect(await send({ target: "/hooks/json", headers: [bearer, jsonType, encoded("br")], body: "x" })).toMatchObject({
      status: 415,
      json: { error: "Content-Encoding must be gzip or deflate, or absent." },
    });
  });

  test("a signature over the content or over the compressed bytes is accepted, but none over other bytes", async () => {
    const sign = (bytes: string | Buffer) =>
      ["x-sig", createHmac("sha256", secret).update(bytes).digest("hex")] as const;
    const post = (content: string, signed: "content" | "sent" | "other") => {
      const body = gzipSync(content);
      const over = { content, sent: body, other: "{}" }[signed];
      return send({ target: "/hooks/signed", headers: [jsonType, encoded("gzip"), sign(over)], body });
    };
    expect((await post('{"n":1}', "content")).status).toBe(200);
    expect((await post('{"n":2}', "sent")).status).toBe(200);
    expect((await post('{"n":3}', "other")).status).toBe(401);
    // The compressed bytes are no payload by themselves.
    const body = gzipSync('{"n":4}');
    expect((await send({ target: "/hooks/signed", headers: [jsonType, sign(body)], body })).status).toBe(400);
    const again = await post('{"n":1}', "content");
    expect(again.json?.eventId).toBe((await post('{"n":1}', "content")).json?.eventId);
  });
});

test("a list payload gets one run per element, and a field named payload still works", async () => {
  const list = [
    { event: "open", email: "a@example.org" },
    { event: "click", email: "b@example.org" },
  ];
  const { json } = await send({ target: "/hooks/events", body: JSON.stringify(list) });
  const { eventIds } = json as { readonly eventIds: readonly string[] };
  const texts = await Promise.all(eventIds.map((eventId) => textOf({ json: { eventId } })));
  expect(texts.map((text) => /\w+ of \S+@example.org/.exec(text)?.[0])).toEqual([
    "open of a@example.org",
    "click of b@example.org",
  ]);
  const nested = await send({ target: "/hooks/nested", body: '{"payload":["x","y"]}' });
  expect(nested.json?.eventIds).toHaveLength(2);
  expect((await send({ target: "/hooks/events", body: "[]" })).status).toBe(204);
  expect(await send({ target: "/hooks/events", body: "{}" })).toMatchObject({
    status: 400,
    json: { error: "payload must be a list." },
  });
  expect((await send({ target: "/hooks/events", body: JSON.stringify(Array(201).fill({})) })).status).toBe(413);
});

describe("GET on a mapping", () => {
  test("the query is the payload; the token is still required and never allowed in the query", async () => {
    const get = (target: string, headers: Post["headers"] = [bearer]) =>
      send({ method: "GET", target: `/hooks/${target}`, headers });
    const answer = await get("door?state=open&n=1&n=2");
    expect(answer).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
    expect(await textOf(answer)).toContain('open {"state":"open","n":["1","2"]}');
    expect(await textOf(await send({ target: "/hooks/door", body: '{"state":"open"}' }))).toContain(
      'posted {"state":"open"}',
    );
    expect((await get("door?state=closed")).status).toBe(404);
    expect((await get("door?state=open", [])).status).toBe(401);
    expect((await get("door?state=open&token=x")).json?.code).toBe("query_token");
    expect(await get("json")).toMatchObject({ status: 405, headers: { allow: "POST" } });
    expect(await send({ target: "/hooks/button", body: "{}" })).toMatchObject({
      status: 405,
      headers: { allow: "GET" },
      json: { error: "This hook accepts GET only." },
    });
    expect((await get("wake?text=x")).status).toBe(405);
    expect(await send({ method: "PUT", target: "/hooks/door" })).toMatchObject({
      status: 405,
      headers: { allow: "GET, POST" },
    });
  });

  test("a header identifies a repeated request, and a signature can cover the address", async () => {
    const key = ["idempotency-key", "press-1"] as const;
    const press = (n: number) => send({ method: "GET", target: `/hooks/button?n=${n}`, headers: [bearer, key] });
    const first = await press(1);
    expect((await press(1)).json?.eventId).toBe(first.json?.eventId);
    expect((await press(2)).status).toBe(409);
    expect(first.status).toBe(202);
    const url = "https://localhost/hooks/signed-get?n=1";
    const sign = ["x-sig", createHmac("sha256", secret).update(url).digest("hex")] as const;
    const get = (n: number) => send({ method: "GET", target: `/hooks/signed-get?n=${n}`, headers: [sign] });
    expect((await get(1)).status).toBe(200);
    expect((await get(2)).status).toBe(401);
  });

  test("is supported by hooks test, send, show, replay and list", async () => {
    const file = join(room.directory, "press.json");
    writeFileSync(file, '{"n":"7"}');
    expect((await command("hooks", "test", "button", file)).out).toContain("pressed 7");
    const sent = await command("hooks", "send", "button", file);
    expect(sent.out, sent.err).toContain("202 from");
    expect(sent.out).toContain("/hooks/button?n=7");
    const shown = await command("hooks", "show", "last");
    expect(shown.out).toMatch(/method\s+GET/);
    await replay(/event (\w+):/.exec(sent.out)?.[1] ?? "");
    expect((await command("hooks", "list")).out).toMatch(/\/hooks\/button\s+mapping\s+GET agent/);
    const posted = await command("hooks", "test", "door", file);
    expect(posted.out).toContain("it takes GET requests");
  });
});
