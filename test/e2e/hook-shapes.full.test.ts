/**
 * Whatever is sent, wherever: no prototype changes, nothing breaks, and no spelling of an address gets another
 * decision.
 */

import { createHmac } from "node:crypto";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { anyCharacter } from "../support/any-character.ts";
import { leastCostOf } from "../support/cost.ts";
import type { Post, WireAnswer } from "../support/wire.ts";
import { renderRequest } from "../support/wire.ts";
import {
  anotherClient,
  bearer,
  closeHookGateways,
  type HookGateway,
  hookToken,
  jsonType,
  startHookGateway,
} from "./hook-room.ts";

afterAll(closeHookGateways);

const signingSecret = "the-secret-of-the-sender";
const wake = { action: "wake", wakeMode: "next-heartbeat" } as const;

/** Says what the payload asks it to. */
const obedient =
  "export default ({ payload }) => (payload === null || typeof payload !== 'object' ? undefined : payload.result);\n";

let room: HookGateway;
beforeAll(async () => {
  room = await startHookGateway({
    config: { agents: { defaults: { heartbeat: { every: "0" } } } },
    transforms: { "obedient.ts": obedient },
    hooks: {
      mappings: [
        {
          match: { path: "deep" },
          ...wake,
          textTemplate:
            "{{payload}}|{{a.b[0].c}}|{{headers.x-one}}|{{query.q}}|{{path}}|{{now}}|{{payload.constructor.name}}|{{__proto__.polluted}}|{{[0].a}}",
        },
        { match: { path: "each" }, ...wake, textTemplate: "{{messages[0]}} {{messages[0].a}}", forEach: "messages" },
        {
          match: {
            path: "where",
            source: "s",
            headers: { "x-one": ["a", "b"] },
            where: { "a.b": { exists: true }, "a.c": { matches: "^(x+)+$" }, d: [1, null, true] },
          },
          ...wake,
          textTemplate: "taken {{a.c}}",
        },
        { match: { path: "form" }, ...wake, body: "form", textTemplate: "{{payload}} {{a}} {{a[0]}} {{__proto__}}" },
        { match: { path: "text" }, ...wake, body: "text", textTemplate: "{{payload}} {{a}} {{length}}" },
        {
          match: { path: "agent-like" },
          messageTemplate: "{{a}}",
          name: "{{b}}",
          sessionKey: "hook:{{c}}",
          to: "{{d}}",
          deliver: false,
          wakeMode: "next-heartbeat",
        },
        {
          match: { path: "obedient" },
          ...wake,
          textTemplate: "rendered",
          deliver: false,
          transform: { module: "obedient.ts" },
        },
        {
          match: { path: "signed" },
          ...wake,
          textTemplate: "{{payload}}",
          signature: { scheme: "hmac", header: "x-sig", secret: signingSecret },
        },
      ],
    },
  });
});

const before = [Object, Array, Function, String, Number, Boolean, RegExp, Promise, Map].map(({ prototype }) =>
  JSON.stringify(Reflect.ownKeys(prototype).map(String)),
);
afterEach(async () => {
  const after = [Object, Array, Function, String, Number, Boolean, RegExp, Promise, Map].map(({ prototype }) =>
    JSON.stringify(Reflect.ownKeys(prototype).map(String)),
  );
  expect(after).toEqual(before);
  expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
  expect((await room.post("wake", { text: "still here", mode: "next-heartbeat" })).status).toBe(200);
});

const sign = (body: string | Buffer): readonly [string, string] => [
  "x-sig",
  createHmac("sha256", signingSecret).update(body).digest("hex"),
];

/** The statuses that a request with a right credential may get, whatever is in it. */
function expectOrderly({ status, json, body }: WireAnswer): void {
  if (status === 500) expect(json?.code).toBe("mapping_failed");
  else expect([200, 202, 204, 400, 404, 409, 413, 415]).toContain(status);
  if (status === 204) expect(body).toBe("");
  else if (status < 300) expect(json?.ok).toBe(true);
  else
    expect(json).toEqual({
      ok: false,
      error: expect.stringMatching(/^\S[^\n]*$/),
      code: expect.stringMatching(/^[a-z_]+$/),
    });
}

/**
 * JSON as text, so that it can be what no serialiser writes: keys twice, numbers beyond all numbers, half characters.
 */
const keys = fc.oneof(
  fc.constantFrom(
    "a",
    "b",
    "c",
    "d",
    "messages",
    "source",
    "result",
    "text",
    "0",
    "length",
    "",
    "then",
    "toJSON",
    "valueOf",
  ),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "__defineGetter__",
    "__lookupSetter__",
  ),
  fc.string({ maxLength: 6 }),
);
const scalars = fc.oneof(
  fc.constantFrom(
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1e400",
    "-1E+999",
    "1e-400",
    "12345678901234567890123",
    "0.1e1",
    "9007199254740993",
  ),
  fc.constantFrom(
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\u0000"',
    '"\\uffff"',
    '"\u2028"',
    '"polluted"',
    '"{{payload}}"',
    '"{{a"',
    '"<<<end-external-content>>>"',
  ),
  fc.string({ unit: anyCharacter, maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.double().map((value) => (Number.isFinite(value) ? String(value) : "7")),
);
const { value: jsonText } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, scalars, tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 5 }).map((items) => `[${items.join(",")}]`),
  object: fc
    .array(fc.tuple(keys, tie("value")), { maxLength: 6 })
    .map((fields) => `{${fields.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(",")}}`),
}));
const wrapped = fc
  .tuple(fc.constantFrom("", "\ufeff", " \r\n\t"), jsonText, fc.constantFrom("", "\n", "\u0000", "x", ",", "\ufeff"))
  .map((parts) => parts.join(""));
const headerText = fc.string({ unit: fc.constantFrom(..."ab{}[].<>|%\u00e9\u00ff\t "), maxLength: 12 });
const inQueries = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/?"];
const encoded = anyCharacter.map((character) => {
  const written = encodeURIComponent(character);
  return written === character ? `%${character.charCodeAt(0).toString(16)}` : written;
});
/**
 * The queries of `fc.webQueryParameters`, which first makes a table of the million code points: half a second of work.
 */
const queryText = fc.string({
  unit: fc.oneof({ weight: 10, arbitrary: fc.constantFrom(...inQueries) }, { weight: 1, arbitrary: encoded }),
});

describe("request bodies", () => {
  const targets = ["wake", "agent", "deep", "each", "where", "agent-like", "obedient", "nobody"];

  test("of any JSON, at every endpoint and with any headers and queries, get a well-formed response", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...targets),
        wrapped,
        headerText,
        queryText,
        async (target, body, header, query) => {
          const headers = [
            bearer,
            jsonType,
            ["x-one", header],
            ["__proto__", "polluted"],
            ["constructor", header],
          ] as const;
          expectOrderly(
            await room.send({
              target: `/hooks/${target}?q=${query}&__proto__[polluted]=1&constructor=x`,
              headers,
              body,
            }),
          );
        },
      ),
      { numRuns: 1_500 },
    );
  });

  test("of any JSON, signed, get a well-formed response", async () => {
    await fc.assert(
      fc.asyncProperty(wrapped, async (body) => {
        expectOrderly(await room.send({ target: "/hooks/signed", headers: [sign(body), jsonType], body }));
      }),
      { numRuns: 300 },
    );
  });

  test("of any bytes, as JSON, form and text, get a well-formed response", async () => {
    const types = { deep: "application/json", form: "application/x-www-form-urlencoded", text: "text/plain" } as const;
    const form = fc
      .array(fc.tuple(keys, fc.string({ unit: anyCharacter, maxLength: 8 })), { maxLength: 8 })
      .map((fields) =>
        fields.map((pair) => pair.map((part) => encodeURIComponent(part.toWellFormed())).join("=")).join("&"),
      );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      fc
        .oneof(
          form,
          fc.string({ unit: anyCharacter, maxLength: 60 }),
          fc.constantFrom("a[]=1&a[__proto__]=2&__proto__=3&__proto__=4", "%", "%zz=%", "&&&==", "a=%ff"),
        )
        .map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("deep", "form", "text"), bytes, async (target, body) => {
        const headers = [bearer, ["content-type", types[target as keyof typeof types]]] as const;
        expectOrderly(await room.send({ target: `/hooks/${target}`, headers, body }));
      }),
      { numRuns: 600 },
    );
  });

  test("with 64 levels are accepted by every endpoint, and with 65 by none", async () => {
    const nested = (levels: number) =>
      `{"text":"x","message":"x","a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    for (const target of ["wake", "agent", "deep"]) {
      expect((await room.post(target, nested(64))).status, target).toBeLessThan(300);
      expect((await room.post(target, nested(65))).json?.code, target).toBe("invalid_json");
    }
    for (const [levels, status] of [
      [64, 200],
      [65, 400],
    ] as const) {
      const body = nested(levels);
      expect((await room.send({ target: "/hooks/signed", headers: [sign(body), jsonType], body })).status).toBe(status);
    }
  });

  test("built to be slow to match or render are handled quickly", async () => {
    const all = async () => {
      await room.send({
        target: "/hooks/where",
        headers: [bearer, jsonType, ["x-one", "a"]],
        body: JSON.stringify({ source: "s", d: 1, a: { b: 1, c: `${"x".repeat(200_000)}y` } }),
      });
      await room.post("deep", `{"a":"${"{{".repeat(120_000)}"}`);
      await room.post("deep", `[${'{"a":'.repeat(60)}1${"}".repeat(60)}]`);
      await room.post("each", { messages: Array.from({ length: 201 }, () => 1) });
      await room.post("deep", `{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join(",")}}`);
    };
    expect(await leastCostOf(all, { below: 3_000 })).toBeLessThan(3_000);
  });
});

describe("the result of a transform", () => {
  const fieldValues = fc.oneof(
    jsonText,
    fc.constantFrom('"wake"', '"agent"', '"last"', '"x"', "5", '"agent:main:main"', '"now"', '"high"'),
  );
  const fieldNames = fc.constantFrom(
    "action",
    "text",
    "message",
    "name",
    "agentId",
    "sessionKey",
    "sessionMode",
    "wakeMode",
    "deliver",
    "channel",
    "to",
    "model",
    "thinking",
    "timeoutSeconds",
    "deliverOnly",
    "allowUnsafeExternalContent",
    "status",
    "path",
    "signature",
    "__proto__",
    "constructor",
  );

  test("is validated like a request: every response is well-formed, and no chat session is reachable", {
    timeout: 60_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fieldNames, fieldValues), { maxLength: 4 }), async (fields) => {
        const result = `{${fields.map(([name, value]) => `"${name}": ${value}`).join(",")}}`;
        expectOrderly(await room.post("obedient", `{"result": ${result}}`));
      }),
      { numRuns: 500 },
    );
    expect(
      room.turns.filter(
        ({ sessionKey, inbound }) =>
          inbound.channel === "hooks" &&
          /^agent:main:main$/.test(sessionKey) &&
          inbound.request?.heartbeat === undefined,
      ),
    ).toEqual([]);
  });

  test("gives mapping_failed if it is not an object, 204 for null, and no override for undefined", async () => {
    for (const result of ["5", '"x"', "[]", "true"]) {
      expect(await room.post("obedient", `{"result": ${result}}`), result).toMatchObject({
        status: 500,
        json: { code: "mapping_failed" },
      });
    }
    expect((await room.post("obedient", '{"result": null}')).status).toBe(204);
    expect((await room.post("obedient", "{}")).status).toBe(200);
  });

  test("is subject to the same rules as a request", async () => {
    const say = (result: object) =>
      room.post("obedient", {
        result: { action: "agent", message: "x", deliver: false, wakeMode: "next-heartbeat", ...result },
      });
    expect((await say({ sessionKey: "hook:fine" })).status).toBe(202);
    expect(await say({ sessionKey: "agent:main:main" })).toMatchObject({
      status: 400,
      json: { code: "session_key_not_allowed" },
    });
    expect(await say({ channel: "pigeon", deliver: true })).toMatchObject({
      status: 400,
      json: { code: "channel_unknown" },
    });
    expect(await say({ thinking: "loud" })).toMatchObject({ status: 400, json: { code: "invalid_payload" } });
    expect(await say({ message: "  " })).toMatchObject({ status: 400, json: { code: "invalid_payload" } });
  });
});

describe("request addresses", () => {
  const body = JSON.stringify({ text: "x", mode: "next-heartbeat" });
  /** Plain paths, and a request to each with what lets it in. */
  const plain: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
    "/hooks/wake": [bearer],
    "/hooks/deep": [bearer],
    "/hooks/signed": [sign(body)],
  };

  const percent = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  /** Each way in which others have been talked into taking one address for another. */
  const bends: readonly ((path: string, at: number) => string)[] = [
    (path, at) => path.slice(0, at) + percent(path[at] ?? "/") + path.slice(at + 1),
    (path, at) => path.slice(0, at) + percent(path[at] ?? "/").toUpperCase() + path.slice(at + 1),
    (path, at) =>
      path.slice(0, at) +
      percent(percent(path[at] ?? "/")[0] ?? "%") +
      percent(path[at] ?? "/").slice(1) +
      path.slice(at + 1),
    (path) => path.replaceAll("/", "//"),
    (path) => `/${path}`,
    (path) => `${path}/`,
    (path) => `${path}//`,
    (path) => `${path}.`,
    (path) => `${path}/.`,
    (path) => `${path}/..`,
    (path) => `${path}%20`,
    (path) => `${path}%00`,
    (path) => `${path};x=1`,
    (path) => path.replace("/hooks", "/hooks;x"),
    (path) => path.replace("/hooks/", "/hooks/./"),
    (path) => path.replace("/hooks/", "/hooks/x/../"),
    (path) => path.replace("/hooks/", "/hooks/%2e%2e/hooks/"),
    (path) => path.replace("/hooks/", "/hooks/..%2fhooks/"),
    (path) => path.replace("/hooks/", "/hooks%2f"),
    (path) => path.replace("/hooks/", "/hooks\\"),
    (path) => path.replace("/hooks/", "/hooks/%5c"),
    (path, at) => path.slice(0, at) + (path[at] ?? "").toUpperCase() + path.slice(at + 1),
    (path) => path.toUpperCase(),
    (path) => `${path}?`,
    (path) => `${path}#x`,
    (path) => `${path}?a=b?c`,
    (path) => `http://gateway${path}`,
    (path) => `http://other.example${path}`,
    (path) => `//other.example${path}`,
    (path) => path.slice(1),
    (path) => path.replace("o", "\u00f6"),
    (path) => path.replace("k", "\u00e2"),
    (path, at) => `${path.slice(0, at)}${path[at] === "/" ? "/%c0%af" : "%c0%ae"}${path.slice(at)}`,
    (path) => path.replace("/hooks", "/HOOKS"),
    (path) => path.replace("/hooks", "/healthz/../hooks"),
  ];
  const bent = fc
    .tuple(
      fc.constantFrom(...Object.keys(plain)),
      fc.array(fc.tuple(fc.nat(bends.length - 1), fc.nat(11)), { minLength: 1, maxLength: 3 }),
    )
    .map(([path, chosen]) => ({
      path,
      target: chosen.reduce((one, [bend, at]) => bends[bend]?.(one, at) ?? one, path),
    }));

  const send = (target: string, headers: Post["headers"] = []) =>
    room.wire.exchange(
      renderRequest({
        target: Buffer.from(target, "utf8").toString("latin1"),
        headers: [jsonType, anotherClient(), ...headers],
        body,
      }),
    );

  test("in plain form get the expected responses, the baseline for the others", async () => {
    for (const [path, headers] of Object.entries(plain)) {
      expect((await send(path, headers)).status, path).toBe(200);
      expect((await send(path)).status, path).toBe(401);
    }
    expect((await send("/hooks/signed", [bearer])).status, "a token opens no signed path").toBe(401);
    expect((await send("/hooks/wake", [sign(body)])).status, "a signature opens no other path").toBe(401);
  });

  test("with one distortion get 404 or a similar error, or the decision for the plain path", async () => {
    for (const path of Object.keys(plain)) {
      for (const bend of bends) for (const at of [0, 1, 6, 8]) await judge(path, bend(path, at));
    }
  });

  test("with several distortions get 404 or a similar error, or the decision for the plain path", async () => {
    await fc.assert(
      fc.asyncProperty(bent, ({ path, target }) => judge(path, target)),
      { numRuns: 700 },
    );
  });

  async function judge(path: string, target: string): Promise<void> {
    const [stranger, guest, signed] = [
      await send(target),
      await send(target, [bearer]),
      await send(target, [sign(body)]),
    ];
    // Outside the hook paths, an address with a host that the gateway does not know is refused by its host.
    const foreign = /^https?:\/\//i.test(target) ? [421] : [];
    const refused = [400, 401, 404, ...foreign];
    // Nobody gets in without a credential, and no credential opens more than it opens elsewhere.
    expect(refused, `${target} for a stranger`).toContain(stranger.status);
    const admitted = path === "/hooks/signed" ? signed : guest;
    const other = path === "/hooks/signed" ? guest : signed;
    // A spelling that is not the signed path's own is any other name, and those ask for the token.
    expect(
      [200, 400, 404, ...foreign, ...(path === "/hooks/signed" ? [401] : [])],
      `${target} with its credential`,
    ).toContain(admitted.status);
    expect(refused, `${target} with another's credential`).toContain(other.status);
    // What lets one in asked the other for a credential.
    if (admitted.status === 200) expect([stranger.status, other.status], target).toEqual([401, 401]);
    for (const { body: text } of [stranger, guest, signed]) expect(text).not.toContain(hookToken);
  }

  test("of a run result treat any id as a lookup, found or not, and reach nothing else", async () => {
    const { json } = await room.post("wake", { text: "x", mode: "next-heartbeat" });
    const ids = fc.oneof(
      fc.string({ unit: fc.constantFrom(..."abc019'\"%_-./;*()<>~"), maxLength: 40 }),
      fc.constantFrom(
        "../wake",
        "..%2fwake",
        `${json?.eventId}'--`,
        "%",
        "*",
        "'; drop table inbox; --",
        "a".repeat(5_000),
        "__proto__",
        "constructor",
        "null",
        "%00",
      ),
    );
    await fc.assert(
      fc.asyncProperty(ids, async (id) => {
        const ask = (headers: Post["headers"]) =>
          room.send({ method: "GET", target: `/hooks/runs/${id}`, headers: headers ?? [] });
        expect([400, 401, 404, 405]).toContain((await ask([anotherClient()])).status);
        expect([400, 404]).toContain((await ask([bearer])).status);
      }),
      { numRuns: 200 },
    );
  });

  test("of a signed path with extra slashes mean the same signed path", async () => {
    for (const target of ["/hooks//signed", "/hooks/signed/", "/hooks///signed//"]) {
      expect((await send(target, [bearer])).status, target).toBe(401);
      expect((await send(target, [sign(body)])).status, target).toBe(200);
    }
  });
});
