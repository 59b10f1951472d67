/**
 * Who may call a mapping besides those who hold the hook token, and platforms that test an address before they use it.
 */
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { run } from "../core/cli/command-runner.ts";
import { type HookServer, startHooks } from "../core/http/fixture.ts";
import { temporaryDirectory } from "../support/directory.ts";
import type { Post } from "../support/wire.ts";
import { anotherClient, bearer, closeHookGateways, hookToken, jsonType, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

const secret = "a-long-secret-of-the-sender";
const mapping = (path: string, more: object) => ({
  match: { path },
  messageTemplate: `${path}: {{ payload }}`,
  deliver: false,
  ...more,
});
const signed = (path: string, signature: object) => mapping(path, { signature: { secret, ...signature } });

const room = await startHookGateway({
  hooks: {
    mappings: [
      signed("key", { scheme: "header", header: "X-Api-Key" }),
      signed("prefixed", { scheme: "header", header: "Authorization", prefix: "Token " }),
      signed("basic", { scheme: "basic", user: "ada" }),
      mapping("own", { token: [secret, `${secret}-of-before`] }),
      mapping("inside", { addresses: ["192.0.2.0/24", "2001:db8::7"] }),
      mapping("both", { token: secret, addresses: ["192.0.2.8"] }),
      signed("github", { scheme: "github" }),
      signed("meta", { scheme: "meta", verifyToken: "the-token-that-meta-shows" }),
      signed("dropbox", { scheme: "dropbox" }),
      signed("graph", { scheme: "microsoft-graph" }),
    ],
  },
});

type Headers = readonly (readonly [string, string])[];
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
const post = (path: string, headers: Headers, body = '{"a":1}', method: Post["method"] = "POST") =>
  room.send({ method, target: `/hooks/${path}`, headers: [jsonType, ...headers], body });
const statuses = async (path: string, ways: readonly Headers[]) => {
  const found: number[] = [];
  for (const headers of ways) found.push((await post(path, [anotherClient(), ...headers])).status);
  return found;
};
const from = (address: string): readonly [string, string] => ["x-forwarded-for", address];

describe("a credential of a single mapping", () => {
  test("can be a secret in a header, with or without a prefix", async () => {
    expect(
      await statuses("key", [
        [["x-api-key", secret]],
        [["x-api-key", `${secret}x`]],
        [["x-api-key", ""]],
        [],
        [bearer],
      ]),
    ).toEqual([202, 401, 401, 401, 401]);
    expect(
      await statuses("prefixed", [[["authorization", `Token ${secret}`]], [["authorization", secret]], [bearer]]),
    ).toEqual([202, 401, 401]);
  });

  test("can be Basic authentication, with a challenge; a request without a password is not a failure", async () => {
    const client = anotherClient();
    for (let attempt = 0; attempt < 25; attempt += 1) {
      const answer = await post("basic", [client]);
      expect(answer).toMatchObject({
        status: 401,
        headers: { "www-authenticate": 'Basic realm="hooks"' },
        json: { code: "unauthorized" },
      });
    }
    expect((await post("basic", [client, ["authorization", basic("ada", secret)]])).status).toBe(202);
    const wrong = [
      basic("ada", "x"),
      basic("eve", secret),
      basic("ada:", secret),
      `Basic ${secret}`,
      `Bearer ${secret}`,
      bearer[1],
    ];
    expect(
      await statuses(
        "basic",
        wrong.map((text) => [["authorization", text]]),
      ),
    ).toEqual(wrong.map(() => 401));
  });

  test("can be its own token, or two during a rotation; the hook token is rejected there", async () => {
    const ways: Headers[] = [
      [["authorization", `Bearer ${secret}`]],
      [["x-service-token", `${secret}-of-before`]],
      [bearer],
      [["authorization", "Bearer x"]],
      [],
    ];
    expect(await statuses("own", ways)).toEqual([202, 202, 401, 401, 401]);
    expect((await post("wake", [anotherClient(), ["authorization", `Bearer ${secret}`]], '{"text":"x"}')).status).toBe(
      401,
    );
    const failed = await post("own", [anotherClient()]);
    expect(failed).toMatchObject({ headers: { "www-authenticate": "Bearer" }, json: { code: "unauthorized" } });
  });

  test("counts wrong attempts, and a repeated delivery gets the first response", async () => {
    const client = anotherClient();
    const codes: number[] = [];
    for (let attempt = 0; attempt < 21; attempt += 1)
      codes.push((await post("own", [client, ["authorization", "Bearer x"]])).status);
    expect(codes.at(-1)).toBe(429);
    const once = () =>
      post("own", [anotherClient(), ["authorization", `Bearer ${secret}`], ["idempotency-key", "the same"]]);
    const [first, again] = [await once(), await once()];
    expect(again.json?.eventId).toBe(first.json?.eventId);
  });

  test("does not reach the agent, and neither does its header", async () => {
    await post("key", [anotherClient(), ["x-api-key", secret]], JSON.stringify({ mark: "leak", secret }));
    const turn = await room.turn(({ inbound }) => inbound.text.includes("leak"));
    expect(JSON.stringify(turn)).not.toContain(secret);
  });
});

test("only listed client addresses may enter, after the token check", async () => {
  expect((await post("inside", [bearer, from("192.0.2.77")])).status).toBe(202);
  expect((await post("inside", [bearer, from("2001:db8::7")])).status).toBe(202);
  expect(await post("inside", [bearer, from("198.51.100.1")])).toMatchObject({
    status: 403,
    json: { code: "address_not_allowed" },
  });
  expect((await post("inside", [from("198.51.100.2")])).status).toBe(401);
  const own = ["authorization", `Bearer ${secret}`] as const;
  expect((await post("both", [own, from("192.0.2.8")])).status).toBe(202);
  expect((await post("both", [own, from("192.0.2.9")])).status).toBe(403);
});

describe("address challenges", () => {
  const hmac = (body: string, key = secret) => createHmac("sha256", key).update(body).digest("hex");
  const turnsOf = (path: string) => room.turns.filter(({ inbound }) => inbound.text.includes(`${path}: {`));
  const get = (target: string, headers: Headers = [anotherClient()]) =>
    room.send({ method: "GET", target: `/hooks/${target}`, headers });

  test("from GitHub are answered once the signature is valid, without a run", async () => {
    const body = '{"zen":"Keep it logically awesome.","hook_id":1}';
    const ping: Headers = [
      anotherClient(),
      ["x-github-event", "ping"],
      ["x-hub-signature-256", `sha256=${hmac(body)}`],
    ];
    expect(await post("github", ping, body)).toMatchObject({ status: 200, json: { ok: true } });
    expect((await post("github", ping, `${body} `)).status).toBe(401);
    expect(turnsOf("github")).toHaveLength(0);
  });

  test("from Meta are answered if they contain the verify token", async () => {
    const ask = (token: string) => get(`meta?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}`);
    const right = await ask("the-token-that-meta-shows");
    expect([right.status, right.body.toString(), right.headers["content-type"]]).toEqual([
      200,
      "1158201444",
      "text/plain; charset=utf-8",
    ]);
    expect((await ask("another")).status).toBe(401);
    expect((await get("meta")).status).toBe(405);
    const body = '{"object":"page","entry":[]}';
    expect((await post("meta", [anotherClient(), ["x-hub-signature-256", `sha256=${hmac(body)}`]], body)).status).toBe(
      202,
    );
    expect((await post("meta", [anotherClient()], body)).status).toBe(401);
  });

  test("from Dropbox and Microsoft Graph are echoed as plain text; anything else requires a credential", async () => {
    const echoes = [
      await get("dropbox?challenge=%3Cscript%3E1"),
      await room.send({
        target: "/hooks/graph?validationToken=%3Cscript%3E1",
        headers: [["content-type", "text/plain"]],
      }),
    ];
    for (const { status, body, headers } of echoes) {
      expect([status, body.toString()]).toEqual([200, "<script>1"]);
      expect(headers).toMatchObject({
        "content-type": "text/plain; charset=utf-8",
        "x-content-type-options": "nosniff",
      });
    }
    const refused = [
      await get(`dropbox?challenge=${"x".repeat(1_001)}`),
      await get("dropbox?challenge=a%0d%0ab"),
      await get("github?challenge=x", [bearer]),
      await get("dropbox?challenge=x", [["origin", "https://example.org"]]),
      await post("dropbox?challenge=x", [anotherClient()]),
      await post("graph", [anotherClient()], '{"value":[{"clientState":"wrong"}]}'),
      await post("graph", [anotherClient()], `{"value":[{"clientState":"${secret}"},{}]}`),
      await post("graph", [anotherClient()], '{"value":[]}'),
    ];
    expect(refused.map(({ status }) => status)).toEqual([405, 405, 405, 403, 401, 401, 401, 401]);
    expect([...turnsOf("dropbox"), ...turnsOf("graph")]).toHaveLength(0);
    const changed = '{"list_folder":{"accounts":["a"]}}';
    expect((await post("dropbox", [anotherClient(), ["x-dropbox-signature", hmac(changed)]], changed)).status).toBe(
      202,
    );
    const notified = await post(
      "graph",
      [anotherClient()],
      `{"value":[{"clientState":"${secret}","resource":"me/messages"}]}`,
    );
    expect(notified.status).toBe(202);
  });
});

describe("Amazon SNS", () => {
  let hooks: HookServer;
  afterEach(() => hooks.close());
  const topic = "arn:aws:sns:eu-central-1:123456789012:alarms";
  const own = `https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${topic}&Token=abc`;

  test("confirms a subscription only at Amazon's own address and only with the password", async () => {
    const confirmed: string[] = [];
    const mappings = [
      { enabled: true, action: "agent", body: "json", ...signed("sns", { scheme: "aws-sns", user: "sns" }) },
    ];
    hooks = await startHooks({ hooks: { mappings }, deps: { confirm: async (url) => void confirmed.push(url) } });
    const send = (
      type: string,
      body: object,
      headers: Record<string, string> = { authorization: basic("sns", secret) },
    ) =>
      hooks.post("sns", body, {
        authorization: "",
        "content-type": "text/plain; charset=UTF-8",
        "x-amz-sns-message-type": type,
        "x-amz-sns-message-id": "m-1",
        ...headers,
      });
    const subscription = { Type: "SubscriptionConfirmation", TopicArn: topic, SubscribeURL: own };
    expect((await send("SubscriptionConfirmation", subscription, {})).status).toBe(401);
    expect((await send("SubscriptionConfirmation", subscription, { authorization: basic("sns", "x") })).status).toBe(
      401,
    );
    const foreign = [
      own.replace("https:", "http:"),
      own.replace("amazonaws.com", "amazonaws.com.example.org"),
      own.replace("sns.eu", "evil.sns.eu"),
      own.replace("https://", "https://sns@"),
      own.replace(".com/", ".com:444/"),
      own.replace("ConfirmSubscription", "DeleteTopic"),
      own.replace("alarms", "others"),
      "http://169.254.169.254/",
    ];
    for (const SubscribeURL of foreign) {
      expect((await send("SubscriptionConfirmation", { ...subscription, SubscribeURL })).status, SubscribeURL).toBe(
        400,
      );
    }
    expect(confirmed).toEqual([]);
    expect(await send("SubscriptionConfirmation", subscription)).toMatchObject({ status: 200, json: { ok: true } });
    expect(confirmed).toEqual([own]);
    expect(hooks.events).toHaveLength(0);
    const first = await send("Notification", { Type: "Notification", Message: "disk full" });
    expect(first.status).toBe(202);
    expect((await send("Notification", { Type: "Notification", Message: "disk full" })).json.eventId).toBe(
      first.json.eventId,
    );
    expect(hooks.events.at(0)?.event.body).toMatchObject({ message: expect.stringContaining("disk full") });
  });
});

test("an error in a credential or an address is reported with its place", async () => {
  const file = join(temporaryDirectory(), "config.jsonc");
  const mappings = [
    { messageTemplate: "x", token: secret },
    signed("a", { scheme: "basic" }),
    signed("b", { scheme: "meta" }),
    signed("c", { scheme: "header" }),
    mapping("d", { addresses: ["10.0.0.0/40"] }),
    mapping("e", { token: secret, signature: { scheme: "github", secret } }),
    mapping("f", { token: { env: "NOT_SET_ANYWHERE" } }),
  ];
  writeFileSync(file, JSON.stringify({ hooks: { enabled: true, token: hookToken, mappings } }));
  const { code, out } = await run(["config", "validate", "--config", file], { home: temporaryDirectory() });
  expect(code).toBe(1);
  for (const problem of [
    "hooks.mappings[0].token: needs match.path",
    "hooks.mappings[1].signature.user: is missing",
    "hooks.mappings[2].signature.verifyToken: is missing",
    "hooks.mappings[3].signature.header: is missing",
    'hooks.mappings[4].addresses[0]: is "10.0.0.0/40"',
    "hooks.mappings[5].token: contradicts signature",
    "hooks.mappings[6].token: cannot be read",
  ])
    expect(out).toContain(problem);
});
