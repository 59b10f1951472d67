import { describe, expect, test } from "vitest";
import type { HostError } from "../../../core/contract/errors.ts";
import type { Json } from "../../../core/contract/types.ts";
import { fixtureOf, readFixture } from "../../../core/webhooks/mapping/fixture.ts";
import { scrubDelivery } from "../../../core/webhooks/mapping/scrub.ts";
import type { HookDelivery } from "../../../core/webhooks/mapping/webhook-delivery.ts";
import { leastCostOf } from "../../support/cost.ts";

const from = { file: "push.json", path: "github", now: "2026-11-20T12:00:00.000Z" };
const read = (value: unknown) => readFixture(JSON.stringify(value), from);

function reasonOf(text: string): string {
  try {
    readFixture(text, from);
    return "";
  } catch (error) {
    return (error as HostError).message;
  }
}

describe("a delivery as a file", () => {
  test("a bare payload becomes a delivery to the requested path", () => {
    expect(read({ source: "ci", ok: true })).toEqual({
      path: "github",
      source: "ci",
      headers: {},
      query: {},
      payload: { source: "ci", ok: true },
      now: from.now,
    });
    expect(read([1]).payload).toEqual([1]);
    expect(read("text").payload).toBe("text");
  });

  test("a recording sets the path, the headers and the query", () => {
    const delivery = read({
      $delivery: 1,
      path: "/ci/main/",
      headers: { "X-Event": "push" },
      query: { a: "b" },
      payload: { n: 1 },
    });
    expect(delivery).toMatchObject({
      path: "ci/main",
      headers: { "x-event": "push" },
      query: { a: "b" },
      payload: { n: 1 },
    });
    expect(Object.getPrototypeOf(delivery.headers)).toBeNull();
    expect(read(fixtureOf(delivery))).toEqual(delivery);
    expect(read({ $delivery: 1 })).toMatchObject({ path: "github", payload: {} });
  });

  test("a file without a valid delivery is rejected in one sentence that names the file", () => {
    expect(reasonOf("{")).toBe("push.json does not contain a delivery: it is not valid JSON.");
    expect(reasonOf('{"$delivery":2}')).toBe("push.json does not contain a delivery: $delivery must be 1.");
    expect(reasonOf('{"$delivery":1,"body":{}}')).toContain('the key "body" is not known');
    expect(reasonOf('{"$delivery":1,"headers":{"a":1}}')).toContain("headers must be an object of texts");
    expect(reasonOf('{"$delivery":1,"query":[]}')).toContain("query must be an object of texts");
    expect(reasonOf('{"$delivery":1,"path":7}')).toContain("path must be a text");
    expect(reasonOf("[".repeat(100) + "]".repeat(100))).toContain("nested deeper than 64 levels");
  });

  test("no file content can reach a prototype", () => {
    const delivery = readFixture(
      '{"$delivery":1,"headers":{"__proto__":"x"},"payload":{"__proto__":{"polluted":true},"a":1}}',
      from,
    );
    expect((delivery.payload as { polluted?: unknown }).polluted).toBeUndefined();
    expect(delivery.payload).toEqual({ a: 1 });
  });
});

describe("secrets are removed from a recorded delivery", () => {
  const delivery = (payload: Json, more: Partial<HookDelivery> = {}): HookDelivery => ({
    path: "ci",
    source: "",
    headers: {},
    query: {},
    payload,
    now: from.now,
    ...more,
  });
  const clean = (payload: Json, secrets: readonly string[] = []) =>
    scrubDelivery(delivery(payload), secrets).delivery.payload;

  test("by the name of a field at any depth, and the name remains", () => {
    const payload = {
      user: { password: "p", accessToken: "t", name: "Ann" },
      list: [{ client_secret: "s" }],
      API_KEY: "k",
      "auth[token]": "x",
    };
    expect(clean(payload)).toEqual({
      user: { password: "[removed]", accessToken: "[removed]", name: "Ann" },
      list: [{ client_secret: "[removed]" }],
      API_KEY: "[removed]",
      "auth[token]": "[removed]",
    });
    expect(clean({ token: { id: "x" } })).toEqual({ token: "[removed]" });
    expect(clean({ secret: 4711, tokens: 12, secret_set: true, password: "" })).toEqual({
      secret: "[removed]",
      tokens: 12,
      secret_set: true,
      password: "",
    });
  });

  test("in headers and the query as well as in the payload", () => {
    const { delivery: cleaned, removed } = scrubDelivery(
      delivery({}, { headers: { "x-api-key": "k", "x-event": "push" }, query: { sig: "s", page: "2" } }),
      [],
    );
    expect(cleaned).toMatchObject({
      headers: { "x-api-key": "[removed]", "x-event": "push" },
      query: { sig: "[removed]", page: "2" },
    });
    expect(removed).toBe(2);
  });

  test("by the value of a configured secret, also inside a longer text or an address", () => {
    expect(clean({ note: "it is s3cr3t/value, really", url: "https://x/?q=s3cr3t%2Fvalue" }, ["s3cr3t/value"])).toEqual(
      {
        note: "it is [removed], really",
        url: "https://x/?q=[removed]",
      },
    );
    expect(clean({ a: "ab", b: "abc" }, ["ab", ""])).toEqual({ a: "[removed]", b: "abc" });
  });

  test("by their form: keys, signed tokens, and credentials in an address", () => {
    const jwt = `eyJ${"a".repeat(20)}.${"b".repeat(20)}.${"c".repeat(20)}`;
    expect(clean([`see ${jwt}`, "Bearer abcdefgh1234", "https://ann:pw@host/x?token=abc&page=1"])).toEqual([
      "see [removed]",
      "Bearer [removed]",
      "https://[removed]@host/x?token=[removed]&page=1",
    ]);
    expect(clean("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----")).toBe("[removed]");
  });

  test("in JSON inside a text, as some forms contain it", () => {
    expect(clean({ payload: '{"token":"x","n":1}' })).toEqual({ payload: '{"token":"[removed]","n":1}' });
    expect(clean({ payload: '{ "n": 1 }' })).toEqual({ payload: '{ "n": 1 }' });
  });

  test("even if the payload is built to be slow or deep", async () => {
    const hostile = [
      "-eyJ".repeat(60_000),
      "?a=".repeat(80_000),
      "://".repeat(80_000),
      "-----BEGIN ".repeat(20_000),
      "[".repeat(200_000),
    ];
    const all = () => [...hostile, "[".repeat(100_000) + "]".repeat(100_000)].map((text) => clean(text));
    expect(await leastCostOf(all, { below: 2_000 })).toBeLessThan(2_000);
  });
});
