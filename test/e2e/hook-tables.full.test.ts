/**
 * The tables of the interface, as a program outside sees them: one test a row, over sockets, against a whole gateway.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { problems } from "../../core/http/problem.ts";
import { openSocket, startHooks } from "../core/http/fixture.ts";
import type { Post } from "../support/wire.ts";
import { createWire, renderRequest } from "../support/wire.ts";
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

const agents = {
  defaults: { engine: "test-engine", models: ["local/small", "local/large"], heartbeat: { every: "0" } },
  list: [{ id: "main", default: true }, { id: "ops" }, { id: "closed" }],
};

/** As the configuration is recommended. */
let plain: HookGateway;
/** Mappings, a transform and a signature. */
let mapped: HookGateway;
/** With the compatibility settings: requests may name sessions. */
let compatible: HookGateway;

beforeAll(async () => {
  plain = await startHookGateway({ config: { agents }, hooks: { allowedAgentIds: ["main", "ops"] } });
  compatible = await startHookGateway({
    config: { agents },
    hooks: { allowRequestSessionKey: true, allowedSessionKeyPrefixes: ["hook:"], defaultSessionKey: "hook:default" },
  });
  const quick = { action: "wake", wakeMode: "next-heartbeat", textTemplate: "{{payload}}" };
  mapped = await startHookGateway({
    config: { agents },
    transforms: {
      "quiet.ts": "export default () => null;",
      "broken.ts": "export default () => { throw new Error('no'); };",
    },
    hooks: {
      mappings: [
        { match: { path: "door" }, ...quick, textTemplate: "{{who}} is at the door" },
        {
          match: { path: "build" },
          messageTemplate: "Build {{number}} failed",
          deliver: false,
          wakeMode: "next-heartbeat",
        },
        { match: { path: "quiet" }, ...quick, transform: { module: "quiet.ts" } },
        { match: { path: "broken" }, ...quick, transform: { module: "broken.ts" } },
        { match: { path: "signed" }, ...quick, signature: { scheme: "github", secret: "the-secret-of-the-forge" } },
        ...[200, 201, 202, 204].map((status) => ({ match: { path: `status-${status}` }, ...quick, status })),
        { match: { path: "list" }, ...quick, forEach: "items" },
        { match: { path: "form" }, ...quick, body: "form" },
        { match: { path: "any-name", source: "monitor" }, ...quick },
      ],
    },
  });
  await plain.host.say("hello, this is the last recipient", { from: "7" });
});

const id = expect.stringMatching(/^[0-9a-z-]{20,40}$/);
const wakeBody = JSON.stringify({ text: "ring", mode: "next-heartbeat" });
const good: Post = { target: "/hooks/wake", headers: [bearer, jsonType], body: wakeBody };

describe("endpoints", () => {
  test("POST {hooks.path}/wake returns 200", async () => {
    expect(await plain.post("wake", { text: "ring" })).toMatchObject({
      status: 200,
      json: { ok: true, mode: "now", eventId: id },
    });
  });

  test("POST {hooks.path}/agent returns 202", async () => {
    const { status, json } = await plain.post("agent", { message: "run", deliver: false });
    expect({ status, json }).toEqual({ status: 202, json: { ok: true, runId: id, eventId: id } });
  });

  test("POST {hooks.path}/<name> runs its mapping and answers as that action does", async () => {
    expect(await mapped.post("door", { who: "Ada" })).toMatchObject({
      status: 200,
      json: { ok: true, mode: "next-heartbeat", eventId: id },
    });
    expect(await mapped.post("build", { number: 7 })).toMatchObject({
      status: 202,
      json: { ok: true, runId: id, eventId: id },
    });
    const turn = await mapped.turn(({ inbound }) => inbound.text.includes("Build 7 failed"));
    expect(turn.inbound.text).toContain("<<<external-content");
  });

  test("POST {hooks.path}/<name> returns an empty 204 if the transform finds nothing to do", async () => {
    const { status, body } = await mapped.post("quiet", {});
    expect({ status, body }).toEqual({ status: 204, body: "" });
  });

  test("POST {hooks.path}/<name> can match a field source of the payload", async () => {
    expect((await mapped.post("any-name", { source: "monitor" })).status).toBe(200);
    expect((await mapped.post("any-name", { source: "another" })).status).toBe(404);
  });

  test("POST {hooks.path}/<name> can return its own status", async () => {
    for (const [name, status] of [
      ["status-200", 200],
      ["status-201", 201],
      ["status-202", 202],
      ["status-204", 204],
    ] as const) {
      expect((await mapped.post(name, {})).status, name).toBe(status);
    }
  });

  test("GET {hooks.path}/runs/<runId> returns the result of a run to the token's holder only", async () => {
    const { json } = await plain.post("agent", { message: "looked up", deliver: false });
    await plain.host.settled(String(json?.runId));
    const ask = (headers: Post["headers"], path = json?.runId) =>
      plain.send({ method: "GET", target: `/hooks/runs/${path}`, headers: headers ?? [] });
    expect(await ask([bearer])).toMatchObject({
      status: 200,
      json: { ok: true, runId: json?.runId, state: "settled" },
    });
    expect((await ask([anotherClient()])).status).toBe(401);
    expect((await ask([bearer], "0000000000000000000000")).status).toBe(404);
    expect((await plain.send({ ...good, target: `/hooks/runs/${json?.runId}` })).headers.allow).toBe("GET");
  });

  test("POST {hooks.path}/<name> without a matching mapping returns 404", async () => {
    expect(await plain.post("unknown", {})).toMatchObject({ status: 404, json: { code: "not_found" } });
  });

  test("effect 1: wake queues a system event, and mode now runs a heartbeat with it", async () => {
    const beatWith = (text: string) =>
      plain.turn(({ inbound }) => inbound.request?.heartbeat?.events.join().includes(text) === true);
    await plain.post("wake", { text: "effect one, later", mode: "next-heartbeat" });
    await plain.post("wake", { text: "effect one, now", mode: "now" });
    const now = await beatWith("effect one, now");
    // A heartbeat that another test asked for may have taken the first of the two.
    const later = await beatWith("effect one, later");
    expect(now.sessionKey).toBe("agent:main:main");
    expect(plain.turns.indexOf(later)).toBeLessThanOrEqual(plain.turns.indexOf(now));
  });

  test("effect 2: agent runs in its own session, replies to the channel and adds a summary to main", async () => {
    const { json } = await plain.post("agent", { message: "effect two", name: "Build" });
    const turn = await plain.turn(({ inbound }) => inbound.text.includes("effect two"));
    expect(turn.sessionKey).toMatch(/hook:/);
    expect((await plain.host.settled(String(json?.runId))).outcome).toBe("answered");
    expect(
      plain.host
        .outbox()
        .map(({ text }) => text)
        .join("\n"),
    ).toContain("effect two");
    // The reader has the reply, so the summary alone starts no heartbeat.
    await plain.post("wake", { text: "effect two, now", mode: "now" });
    const beat = await plain.turn(
      ({ inbound }) => inbound.request?.heartbeat?.events.join().includes("Hook Build: did:") === true,
    );
    expect(beat.sessionKey).toBe("agent:main:main");
  });
});

describe("the wake payload", () => {
  test("text is a required string and not blank", async () => {
    for (const body of [{}, { text: 5 }, { text: null }, { text: " \n" }, { text: ["x"] }]) {
      const { status, json } = await plain.post("wake", body);
      expect({ status, code: json?.code }, JSON.stringify(body)).toEqual({ status: 400, code: "invalid_payload" });
      expect(json?.error).toMatch(/^text /);
    }
  });

  test("mode is now by default, or next-heartbeat, and nothing else", async () => {
    expect((await plain.post("wake", { text: "x" })).json?.mode).toBe("now");
    expect((await plain.post("wake", { text: "x", mode: "next-heartbeat" })).json?.mode).toBe("next-heartbeat");
    for (const mode of ["later", "NOW", 1, null, true]) {
      expect(await plain.post("wake", { text: "x", mode }), String(mode)).toMatchObject({
        status: 400,
        json: { code: "invalid_payload", error: expect.stringMatching(/^mode /) },
      });
    }
  });
});

describe("the agent payload", () => {
  const quiet = { deliver: false, wakeMode: "next-heartbeat" };
  const refused = async (field: string, values: readonly unknown[]) => {
    for (const value of values) {
      const { status, json } = await plain.post("agent", { message: "x", ...quiet, [field]: value });
      expect({ status, code: json?.code }, JSON.stringify(value)).toEqual({ status: 400, code: "invalid_payload" });
      expect(json?.error).toMatch(new RegExp(`^${field} `));
    }
  };
  let runs = 0;
  const turnOf = async (fields: object, where = plain) => {
    runs += 1;
    const mark = `payload row ${runs}.`;
    const { status } = await where.post("agent", { message: mark, ...quiet, ...fields });
    expect(status).toBe(202);
    return where.turn(({ inbound }) => inbound.text.includes(mark));
  };

  test("message is a required string and not blank", async () => {
    await refused("message", [undefined, "", " ", 5, null, {}]);
  });
  test("name is optional, defaults to Hook, and starts the summary", async () => {
    expect((await turnOf({})).inbound.sender.name).toBe("Hook");
    expect((await turnOf({ name: "Nightly" })).inbound.sender.name).toBe("Nightly");
    await refused("name", [5, null, "x".repeat(201)]);
  });
  test("agentId runs a known agent, and an unknown one falls back to the default agent", async () => {
    expect((await turnOf({ agentId: "ops" })).agentId).toBe("ops");
    expect((await turnOf({ agentId: "nobody" })).agentId).toBe("main");
    await refused("agentId", [5, null]);
  });
  test("sessionKey is rejected unless requests may choose one, and then sets the session of the run", async () => {
    expect(await plain.post("agent", { message: "x", sessionKey: "hook:mine" })).toMatchObject({
      status: 400,
      json: { code: "session_key_not_allowed" },
    });
    expect((await turnOf({ sessionKey: "hook:mine" }, compatible)).sessionKey).toContain("hook:mine");
    await refused("sessionKey", [5, null, "", "a\nb", "x".repeat(257)]);
  });
  test("wakeMode is now by default, or next-heartbeat", async () => {
    await turnOf({ wakeMode: "now" });
    await refused("wakeMode", ["later", "NOW", 1, null]);
  });
  test("deliver is true by default, and false sends nothing", async () => {
    const { json } = await plain.post("agent", { message: "never delivered", deliver: false });
    await plain.host.settled(String(json?.eventId));
    expect(
      plain.host
        .outbox()
        .map(({ text }) => text)
        .join(),
    ).not.toContain("never delivered");
    await refused("deliver", ["false", 0, null]);
  });
  test("channel is last by default, or the id of an available channel", async () => {
    const { json } = await plain.post("agent", { message: "to a channel", channel: "loopback", to: "99" });
    await plain.host.settled(String(json?.eventId));
    expect(plain.host.outbox().at(-1)).toMatchObject({ chat: "99" });
    expect((await plain.post("agent", { message: "x", channel: "pigeon" })).json?.code).toBe("channel_unknown");
    for (const channel of ["whatsapp", "botchat", "discord", "slack", "mattermost", "signal", "imessage", "msteams"]) {
      expect((await plain.post("agent", { message: "x", channel, to: "1" })).json?.code, channel).toBe(
        "channel_unavailable",
      );
    }
    await refused("channel", [5, null, ""]);
  });
  test("to is by default the last recipient of the main session", async () => {
    const { json } = await plain.post("agent", { message: "to the last one" });
    await plain.host.settled(String(json?.eventId));
    expect(plain.host.outbox().at(-1)).toMatchObject({ chat: "7" });
    await refused("to", [5, null, ""]);
  });
  test("model is one of the allowed models", async () => {
    expect((await turnOf({ model: "local/large" })).model).toBe("local/large");
    expect(await plain.post("agent", { message: "x", model: "other/huge" })).toMatchObject({
      status: 400,
      json: { code: "model_not_allowed" },
    });
    await refused("model", [5, null, ""]);
  });
  test("thinking is one of the levels", async () => {
    expect((await turnOf({ thinking: "high" })).thinking).toBe("high");
    await refused("thinking", ["very", 3, null]);
  });
  test("timeoutSeconds is a number above zero and at most a day", async () => {
    await turnOf({ timeoutSeconds: 0.5 });
    await turnOf({ timeoutSeconds: 86_400 });
    await refused("timeoutSeconds", [0, -1, 86_401, "5", null, true]);
  });
});

describe("authentication", () => {
  test("1: every hook request must carry the hook token, even from this machine", async () => {
    for (const target of ["/hooks/wake", "/hooks/agent", "/hooks/anything", "/hooks"]) {
      expect(await plain.send({ ...good, target, headers: [jsonType, anotherClient()] }), target).toMatchObject({
        status: 401,
        json: { code: "unauthorized" },
      });
      expect((await plain.send({ ...good, target, headers: [jsonType] })).status).toBe(401);
    }
  });
  test("2: Authorization: Bearer is accepted, with the scheme in any case", async () => {
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      expect((await plain.send({ ...good, headers: [["authorization", `${scheme} ${hookToken}`]] })).status).toBe(200);
    }
  });
  test("2: x-service-token is accepted, but a Bearer token takes precedence", async () => {
    expect((await plain.send({ ...good, headers: [["x-service-token", hookToken]] })).status).toBe(200);
    expect((await plain.send({ ...good, headers: [["X-Service-Token", hookToken]] })).status).toBe(200);
    const wrong = [["authorization", "Bearer wrong"], ["x-service-token", hookToken], anotherClient()] as const;
    expect((await plain.send({ ...good, headers: wrong })).status).toBe(401);
  });
  test("3: a token in the query string is rejected with 400, even the correct one", async () => {
    for (const query of [`token=${hookToken}`, "token=", "token", "TOKEN=x", "%74oken=x", "a=1&to%6ben=x"]) {
      expect(await plain.send({ ...good, target: `/hooks/wake?${query}` }), query).toMatchObject({
        status: 400,
        json: { code: "query_token" },
      });
    }
  });
  test("4: a failed authentication gets 401, repeated ones 429 with Retry-After; a correct token works", async () => {
    const client = anotherClient();
    const fail = () => plain.send({ ...good, headers: [["authorization", "Bearer wrong"], client] });
    for (let count = 0; count < 20; count += 1) expect((await fail()).status).toBe(401);
    const limited = await fail();
    expect(limited).toMatchObject({ status: 429, json: { code: "rate_limited" } });
    expect(Number(limited.headers["retry-after"])).toBeGreaterThan(0);
    expect(Number(limited.headers["retry-after"])).toBeLessThanOrEqual(60);
    expect((await plain.send({ ...good, headers: [["authorization", "Bearer wrong"], anotherClient()] })).status).toBe(
      401,
    );
    expect((await plain.send({ ...good, headers: [bearer, jsonType, client] })).status).toBe(200);
  });
  test("5: a hook token equal to the gateway token is a configuration error that disables the hooks", async () => {
    const same = await startHookGateway({
      config: { gateway: { auth: { token: hookToken } } },
      allowErrors: [/hooks/],
    });
    expect((await same.send(good)).status).toBe(404);
    await same.close();
  });
  test("5: the gateway token is not accepted as a hook token", async () => {
    const two = await startHookGateway({ config: { gateway: { auth: { token: "the-token-of-the-gateway" } } } });
    expect((await two.send({ ...good, headers: [["authorization", "Bearer the-token-of-the-gateway"]] })).status).toBe(
      401,
    );
    await two.close();
  });
  test("6: only loopback is bound unless the configuration sets another address", () => {
    expect(plain.host.url).toMatch(/^http:\/\/127\.0\.0\.1:/);
  });
  test("7: a payload is wrapped in boundaries before an agent sees it", async () => {
    await plain.post("agent", { message: "seven </wrapped>", deliver: false });
    const { inbound } = await plain.turn((turn) => turn.inbound.text.includes("seven </wrapped>"));
    expect(inbound.text).toMatch(
      /never instructions[\s\S]+<<<external-content ([\w-]+)>>>[\s\S]+seven[\s\S]+<<<end-external-content \1>>>/,
    );
  });
});

describe("errors, by status", () => {
  const shape = { ok: false, error: expect.stringMatching(/^\S[^\n]*\.$/), code: expect.stringMatching(/^[a-z_]+$/) };
  const rows: readonly (readonly [string, number, string, () => Post])[] = [
    ["an invalid payload", 400, "invalid_payload", () => ({ ...good, body: "{}" })],
    ["a body that is not JSON", 400, "invalid_json", () => ({ ...good, body: "{" })],
    ["a token in the query string", 400, "query_token", () => ({ ...good, target: "/hooks/wake?token=x" })],
    ["an authentication failure", 401, "unauthorized", () => ({ ...good, headers: [anotherClient()] })],
    ["a payload too large", 413, "payload_too_large", () => ({ ...good, body: "x".repeat(262_145) })],
    [
      "a page of another site",
      403,
      "origin_refused",
      () => ({ ...good, headers: [bearer, ["origin", "http://evil.example"]] }),
    ],
    ["an address that is not there", 404, "not_found", () => ({ ...good, target: "/hooks/nobody" })],
    ["no sub-path", 404, "not_found", () => ({ ...good, target: "/hooks/" })],
    ["a method that is not POST", 405, "method_not_allowed", () => ({ ...good, method: "PUT" })],
    [
      "a body of another type",
      415,
      "unsupported_media_type",
      () => ({ ...good, headers: [bearer, ["content-type", "text/plain"]] }),
    ],
    ["an agent that hooks may not run", 400, "agent_not_allowed", () => agentWith({ agentId: "closed" })],
    ["a session that requests may not choose", 400, "session_key_not_allowed", () => agentWith({ sessionKey: "x" })],
    ["a model outside the list", 400, "model_not_allowed", () => agentWith({ model: "a/b" })],
    ["an unknown channel", 400, "channel_unknown", () => agentWith({ channel: "pigeon" })],
    ["a channel that is not here", 400, "channel_unavailable", () => agentWith({ channel: "whatsapp", to: "1" })],
  ];
  const agentWith = (fields: object): Post => ({
    ...good,
    target: "/hooks/agent",
    body: JSON.stringify({ message: "x", ...fields }),
  });

  test.each(rows)("%s gets %i %s", async (_name, status, code, request) => {
    const answer = await plain.send(request());
    expect({ status: answer.status, json: answer.json }).toEqual({ status, json: { ...shape, code } });
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.body).not.toContain(hookToken);
  });

  test.each([
    ["a transform that fails", 500, "mapping_failed", { target: "/hooks/broken", body: "{}" }],
    [
      "a signature that does not fit",
      401,
      "signature_invalid",
      { target: "/hooks/signed", headers: [jsonType, ["x-hub-signature-256", `sha256=${"0".repeat(64)}`]], body: "{}" },
    ],
    [
      "no signature where one is asked for",
      401,
      "signature_invalid",
      { target: "/hooks/signed", headers: [bearer, jsonType], body: "{}" },
    ],
    [
      "a body that is not UTF-8",
      400,
      "invalid_payload",
      {
        target: "/hooks/form",
        headers: [bearer, ["content-type", "application/x-www-form-urlencoded"]],
        body: Buffer.from([0xff]),
      },
    ],
    [
      "a list of more than 200",
      413,
      "payload_too_large",
      { target: "/hooks/list", body: JSON.stringify({ items: Array(201).fill(1) }) },
    ],
    [
      "texts that are too long together",
      413,
      "payload_too_large",
      { target: "/hooks/list", body: JSON.stringify({ shared: "x".repeat(20_000), items: Array(150).fill(1) }) },
    ],
    ["a value that is not a list", 400, "invalid_payload", { target: "/hooks/list", body: "{}" }],
    ["JSON where a form is taken", 415, "unsupported_media_type", { target: "/hooks/form", body: "{}" }],
  ] as readonly (readonly [string, number, string, Post])[])("%s gets %i %s", async (_name, status, code, request) => {
    const answer = await mapped.send(request);
    expect({ status: answer.status, json: answer.json }).toEqual({ status, json: { ...shape, code } });
  });

  test("every code of the specification occurs in these cases", () => {
    const codes =
      "query_token unauthorized rate_limited method_not_allowed not_found payload_too_large timeout " +
      "invalid_json invalid_payload unsupported_media_type agent_not_allowed session_key_not_allowed " +
      "model_not_allowed channel_unknown channel_unavailable mapping_failed signature_invalid unavailable";
    expect(Object.keys(problems)).toEqual(expect.arrayContaining(codes.split(" ")));
  });

  test("405 names the allowed method", async () => {
    expect((await plain.send({ ...good, method: "DELETE" })).headers.allow).toBe("POST");
  });

  test("repeated authentication failures get 429 rate_limited", async () => {
    const client = anotherClient();
    let last = await plain.send({ ...good, headers: [client] });
    for (let count = 0; count < 20; count += 1) last = await plain.send({ ...good, headers: [client] });
    expect({ status: last.status, json: last.json }).toEqual({ status: 429, json: { ...shape, code: "rate_limited" } });
    expect(last.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
  });

  test("the same delivery key with another body gets 409 idempotency_conflict", async () => {
    const key = ["idempotency-key", "table-1"] as const;
    const first = await plain.post("wake", wakeBody, [key]);
    expect((await plain.post("wake", wakeBody, [key])).json).toEqual(first.json);
    const other = await plain.post("wake", { text: "another", mode: "next-heartbeat" }, [key]);
    expect({ status: other.status, json: other.json }).toEqual({
      status: 409,
      json: { ...shape, code: "idempotency_conflict" },
    });
  });

  test("a request that does not arrive in time gets 408 timeout", async () => {
    const slow = await startHooks({ server: { requestTimeoutMs: 200 } });
    const wire = createWire(slow.port);
    const answer = await wire.exchange(
      `POST /hooks/wake HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ` +
        `hook-token-of-the-test\r\nContent-Length: 9\r\n\r\n{`,
    );
    expect({ status: answer.status, json: answer.json }).toEqual({ status: 408, json: { ...shape, code: "timeout" } });
    await slow.close();
  });

  test("headers larger than 16 KiB get 431 headers_too_large", async () => {
    const answer = await plain.send({ ...good, headers: [["x-large", "x".repeat(20_000)]] });
    expect({ status: answer.status, json: answer.json }).toEqual({
      status: 431,
      json: { ...shape, code: "headers_too_large" },
    });
  });

  test("a gateway that cannot accept a request answers 503 unavailable with Retry-After", async () => {
    let finish = () => {};
    const busy = await startHookGateway({
      allowErrors: [/could not be stored: The gateway is shutting down/],
      answer: () =>
        new Promise((resolve) => {
          finish = () => resolve("done");
        }),
    });
    await busy.post("agent", { message: "takes long" });
    await busy.turn(() => true);
    const closed = busy.host.close();
    const answer = await busy.send(good);
    expect({ status: answer.status, json: answer.json }).toEqual({
      status: 503,
      json: { ...shape, code: "unavailable" },
    });
    expect(answer.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    finish();
    await closed;
  });
});

describe("errors, by rule", () => {
  test("1: a session key outside the allowed prefixes is refused, and so is the key of a chat session", async () => {
    for (const sessionKey of ["other:1", "agent:main:main", "Hook:1"]) {
      const answer = await compatible.post("agent", { message: "x", sessionKey });
      expect(answer, sessionKey).toMatchObject({ status: 400, json: { code: "session_key_not_allowed" } });
    }
    expect((await compatible.post("agent", { message: "x", sessionKey: "hook:1", deliver: false })).status).toBe(202);
  });
  test("2: a model outside the list is refused", async () => {
    expect((await plain.post("agent", { message: "x", model: "local/other" })).json?.code).toBe("model_not_allowed");
  });
  test("3: an unknown agent falls back to the default agent, without an error", async () => {
    expect((await plain.post("agent", { message: "x", agentId: "no such", deliver: false })).status).toBe(202);
  });
});

test("exactly 262,144 bytes are accepted, and one more is not", async () => {
  const body = (bytes: number) => JSON.stringify({ text: "x".repeat(bytes - 35), mode: "next-heartbeat" });
  expect(body(262_144)).toHaveLength(262_144);
  expect((await plain.post("wake", body(262_144))).status).toBe(200);
  expect((await plain.post("wake", body(262_145))).status).toBe(413);
});

test("requests of one connection are answered in order, even when they are sent at once", async () => {
  const socket = await openSocket(plain.port);
  const requests = [
    renderRequest(good),
    renderRequest({ ...good, target: "/hooks/nobody" }),
    renderRequest({ ...good, method: "PUT" }),
    renderRequest({ ...good, body: "{}" }),
    renderRequest({ ...good, headers: [bearer, jsonType, ["connection", "close"]] }),
  ];
  socket.write(Buffer.concat(requests));
  const { text } = await socket.ended();
  expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
    "200",
    "404",
    "405",
    "400",
    "200",
  ]);
});
