import { createTestHost, type TestHost } from "service-gateway/testkit";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { publicUrl, type Sender, type SentHook, senderOf, senders } from "../../support/senders.ts";
import { type Answer, type HookServer, hookToken, openSocket, startHooks, toAnswer } from "../http/fixture.ts";

const at = 1_700_000_000_000;
const token = { authorization: `Bearer ${hookToken}` };
const github = senderOf("github");
const stripe = senderOf("stripe");

let hooks: HookServer;
afterEach(() => hooks?.close());

const mappingOf = (sender: Sender, path: string, more: object = {}): object => ({
  enabled: true,
  action: "agent",
  body: "json",
  match: { path },
  messageTemplate: "something happened",
  signature: { ...sender.settings, secret: sender.secret },
  ...more,
});

const post = async (
  url: string,
  sent: { readonly headers: Record<string, string>; readonly body: Buffer | string },
): Promise<Answer> =>
  toAnswer(await fetch(url, { method: "POST", headers: sent.headers, body: new Uint8Array(Buffer.from(sent.body)) }));

const start = async (mappings: readonly object[], more: object = {}): Promise<void> => {
  hooks = await startHooks({ hooks: { mappings, ...more } });
};
const send = (path: string, sent: { readonly headers: Record<string, string>; readonly body: Buffer | string }) =>
  post(`${hooks.url}/hooks/${path}`, sent);
const forged = (sent: SentHook): SentHook => ({ ...sent, body: Buffer.concat([sent.body, Buffer.from(" ")]) });

describe("a signed path", () => {
  test.each(senders)("accepts what $name signs, without a token", async (sender) => {
    await start([mappingOf(sender, "signed")]);
    const sent = sender.send({ at });
    expect(await send("signed", sent)).toMatchObject({ status: 202, json: { ok: true, eventId: "event-1" } });
    // A plain hmac, and what Dropbox sends, have nothing that would tell a repetition from a second event.
    const events = ["hmac", "dropbox"].includes(sender.name) ? 2 : 1;
    expect((await send("signed/", sent)).json.eventId).toBe(`event-${events}`);
    const wrong = { ...sent, headers: { ...sent.headers, [sender.header]: `${sent.headers[sender.header]}0` } };
    expect(await send("signed", wrong)).toMatchObject({ status: 401, json: { ok: false, code: "signature_invalid" } });
    expect(hooks.events).toHaveLength(events);
  });

  test("rejects the hook token, alone or beside an invalid signature", async () => {
    await start([mappingOf(github, "gh")]);
    const { headers, body } = github.send({ at });
    const { "x-hub-signature-256": _, ...unsigned } = headers;
    for (const sent of [
      { headers: { ...unsigned, ...token }, body },
      { headers: { ...unsigned, "x-service-token": hookToken }, body },
      { headers: { ...headers, ...token }, body: `${body} ` },
      { headers: { ...unsigned, "x-service-token": github.secret }, body },
    ]) {
      expect(await send("gh", sent)).toMatchObject({ status: 401, json: { code: "signature_invalid" } });
    }
    expect(hooks.events).toHaveLength(0);
  });

  test("ignores a token beside a valid signature, while other paths still require it", async () => {
    await start([mappingOf(github, "gh"), { ...mappingOf(github, "open"), signature: undefined }]);
    const sent = github.send({ at });
    expect((await send("gh", { ...sent, headers: { ...sent.headers, authorization: "Bearer wrong" } })).status).toBe(
      202,
    );
    for (const path of ["open", "wake", "agent", "gh/x", "GH", "g%68", "gh%2f", "other"]) {
      const answer = await send(path, sent);
      expect([path, answer.status, answer.json.code]).toEqual([path, 401, "unauthorized"]);
    }
    expect((await send("open", { ...sent, headers: { ...sent.headers, ...token } })).status).toBe(202);
  });

  test("answers every failure with the same words", async () => {
    await start([mappingOf(stripe, "pay")]);
    const sent = stripe.send({ at });
    const answers = await Promise.all(
      [
        forged(sent),
        { ...sent, headers: {} },
        stripe.send({ at: at - 301_000 }),
        stripe.send({ at: at + 301_000 }),
        stripe.send({ at, secret: stripe.otherSecret }),
        { ...sent, headers: { "stripe-signature": "t=1" } },
        { ...stripe.send({ at, body: "no json" }), headers: sent.headers },
      ].map((wrong) => send("pay", { ...wrong, headers: { ...wrong.headers, "content-type": "application/json" } })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['401 {"ok":false,"error":"The signature is missing, wrong or too old.","code":"signature_invalid"}']),
    );
    expect(JSON.stringify(hooks.log.lines)).not.toContain(stripe.secret);
  });

  test("verifies before it parses: invalid JSON gets 400 from a verified sender and 401 from any other", async () => {
    await start([mappingOf(github, "gh")]);
    const sent = github.send({ at, body: '{"a":' });
    expect(await send("gh", sent)).toMatchObject({ status: 400, json: { code: "invalid_json" } });
    expect((await send("gh", forged(sent))).status).toBe(401);
  });

  test("rejects two signature headers on the wire, in either order", async () => {
    await start([
      mappingOf(github, "gh"),
      mappingOf(stripe, "pay"),
      mappingOf(senderOf("standard-webhooks"), "standard"),
    ]);
    for (const [path, sender] of [
      ["gh", github],
      ["pay", stripe],
      ["standard", senderOf("standard-webhooks")],
    ] as const) {
      const { headers, body } = sender.send({ at });
      const { [sender.header]: right = "", ...rest } = headers;
      const others = Object.entries(rest).map(([name, value]) => `${name}: ${value}\r\n`);
      for (const values of [
        [right, right],
        [right, "x"],
        ["x", right],
        [right, right.replace(/.$/, "0")],
      ]) {
        const lines = values.map((value) => `${sender.header}: ${value}\r\n`);
        const socket = await openSocket(hooks.port);
        const head =
          `POST /hooks/${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ` + `${body.length}\r\n`;
        socket.write(Buffer.concat([Buffer.from(`${head}${lines.join("")}${others.join("")}\r\n`), body]));
        expect((await socket.ended()).text, values.join(" and ")).toMatch(/^HTTP\/1\.1 401/);
      }
    }
    expect(hooks.events).toHaveLength(0);
  });

  test("rejects a body over the limit before verifying it, and accepts one of exactly the limit", async () => {
    await start([mappingOf(github, "gh")], { maxBodyBytes: 100 });
    const long = github.send({ at, body: `{"a":"${"x".repeat(93)}"}` });
    expect(long.body).toHaveLength(101);
    for (const sent of [long, forged(long)])
      expect(await send("gh", sent)).toMatchObject({ status: 413, json: { code: "payload_too_large" } });
    expect((await send("gh", github.send({ at, body: `{"a":"${"x".repeat(92)}"}` }))).status).toBe(202);
  });

  test("keeps signatures and secrets out of mappings and stored events", async () => {
    const gitlab = senderOf("gitlab");
    const told = {
      messageTemplate: "{{headers.x-gitlab-token}}{{headers.x-hub-signature-256}}|{{headers.x-github-event}}",
    };
    await start([
      mappingOf(github, "gh", told),
      mappingOf(gitlab, "gl", told),
      { ...mappingOf(github, "open", told), signature: undefined },
    ]);
    await send("gh", github.send({ at }));
    await send("gl", gitlab.send({ at }));
    // Also where nobody checks them: the secret of one platform stands in its header as it is.
    for (const { headers, body } of [github.send({ at, id: "d-2" }), gitlab.send({ at, id: "d-3" })])
      await send("open", { headers: { ...headers, ...token }, body });
    expect(hooks.events).toHaveLength(4);
    const stored = JSON.stringify(hooks.events.map(({ event }) => event));
    expect(stored).toContain("\\n|push\\n");
    expect(stored).not.toContain(gitlab.secret);
    for (const { header } of senders) expect(stored).not.toContain(`"${header}"`);
  });

  test("passes a request only to mappings whose own secret signed it", async () => {
    const other = { ...github.settings, secret: github.otherSecret };
    await start([
      mappingOf(github, "gh", { name: "first" }),
      mappingOf(github, "gh", { name: "second", signature: other }),
    ]);
    await send("gh", github.send({ at, secret: github.otherSecret, id: "same" }));
    await send("gh", github.send({ at, id: "same" }));
    expect(hooks.events.map(({ event }) => (event.body as { request: { name: string } }).request.name)).toEqual([
      "second",
      "first",
    ]);
  });

  test("with a blank or invalid secret is closed with 503, even for the token", async () => {
    const standard = senderOf("standard-webhooks");
    await start([
      mappingOf(github, "blank", { signature: { scheme: "github", secret: " " } }),
      mappingOf(standard, "odd", { signature: { scheme: "standard-webhooks", secret: "no base64 in here!" } }),
    ]);
    for (const [path, sender] of [
      ["blank", github],
      ["odd", standard],
    ] as const) {
      const { headers, body } = sender.send({ at });
      expect(await send(path, { headers: { ...headers, ...token }, body })).toMatchObject({
        status: 503,
        json: { code: "unavailable" },
      });
    }
    expect(hooks.table().problems.map(({ severity, path, message }) => `${severity} ${path} ${message}`)).toEqual([
      "error hooks.mappings[0].signature.secret is blank",
      "error hooks.mappings[1].signature.secret is not base64 after whsec_; if the sender uses it as text, " +
        'set secretEncoding: "text"',
    ]);
  });
});

describe("failed signatures", () => {
  test("share a limit with wrong tokens; a valid signature is still served and clears the count", async () => {
    await start([mappingOf(github, "gh")]);
    const wrong = forged(github.send({ at }));
    for (let count = 0; count < 10; count += 1) {
      expect((await send("gh", wrong)).status).toBe(401);
      expect((await send("wake", { headers: {}, body: "{}" })).status).toBe(401);
    }
    const limited = await send("gh", wrong);
    expect(limited).toMatchObject({ status: 429, json: { code: "rate_limited" } });
    expect(limited.headers.get("retry-after")).toMatch(/^[1-9][0-9]*$/);
    expect((await send("wake", { headers: {}, body: "{}" })).status).toBe(429);
    expect((await send("gh", github.send({ at }))).status).toBe(202);
    expect((await send("gh", wrong)).status).toBe(401);
  });

  test("are counted one by one, even two hundred at once", async () => {
    await start([mappingOf(github, "gh")]);
    const wrong = forged(github.send({ at }));
    const codes: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(Array.from({ length: 40 }, () => send("gh", wrong)));
      codes.push(...answers.map(({ status }) => String(status)));
    }
    expect(codes.filter((code) => code === "401")).toHaveLength(20);
    expect(codes.filter((code) => code === "429")).toHaveLength(180);
  });

  test("exclude refused methods, origins and tokens in the address, which are checked earlier", async () => {
    await start([mappingOf(github, "gh")]);
    const sent = github.send({ at });
    for (let count = 0; count < 25; count += 1) {
      expect((await fetch(`${hooks.url}/hooks/gh`)).status).toBe(405);
      expect((await send("gh", { ...sent, headers: { ...sent.headers, origin: "https://example.org" } })).status).toBe(
        403,
      );
      expect((await send("gh?token=x", sent)).status).toBe(400);
    }
    expect((await send("gh", forged(sent))).status).toBe(401);
  });
});

describe("signed bodies and challenges", () => {
  test("Slack commands are parsed as forms, events as JSON; a URL challenge is answered and runs nothing", async () => {
    const slack = senderOf("slack");
    await start([mappingOf(slack, "slack", { messageTemplate: "{{command}}{{event.text}}" })]);
    const command = slack.send({ at, body: "command=%2Fdeploy&text=now" });
    const form = { ...command, headers: { ...command.headers, "content-type": "application/x-www-form-urlencoded" } };
    expect((await send("slack", form)).status).toBe(202);
    expect((await send("slack", slack.send({ at, body: '{"event_id":"Ev1","event":{"text":"hello"}}' }))).status).toBe(
      202,
    );
    const messages = hooks.events.map(({ event }) => (event.body as { message: string }).message);
    expect(messages[0]).toContain("/deploy");
    expect(messages[1]).toContain("hello");
    const challenge = slack.send({ at, body: '{"type":"url_verification","challenge":"3eZbrw1aBm2rZgRNFdxV2595"}' });
    expect(await send("slack", challenge)).toMatchObject({ status: 200, text: "3eZbrw1aBm2rZgRNFdxV2595" });
    const unsigned = { ...challenge, headers: { "content-type": "application/json" } };
    expect((await send("slack", unsigned)).status).toBe(401);
    expect((await send("slack", forged(challenge))).status).toBe(401);
    expect(hooks.events).toHaveLength(2);
  });

  test("a Slack event that is redelivered with a new time and signature is the same event", async () => {
    const slack = senderOf("slack");
    await start([mappingOf(slack, "slack")]);
    const body = '{"type":"event_callback","event_id":"Ev2"}';
    const first = await send("slack", slack.send({ at: at - 60_000, body }));
    expect(await send("slack", slack.send({ at, body }))).toMatchObject({
      status: 202,
      json: { eventId: first.json.eventId },
    });
    expect(hooks.events).toHaveLength(1);
  });

  test("a replay stays the same delivery under a new unsigned delivery header", async () => {
    await start([mappingOf(stripe, "pay")]);
    const sent = stripe.send({ at, body: '{"id":"evt_9"}' });
    for (const name of ["1", "2"])
      await send("pay", { ...sent, headers: { ...sent.headers, "idempotency-key": name, "webhook-id": name } });
    expect(hooks.events).toHaveLength(1);
  });

  test("a redelivery after another secret was added is the same delivery", async () => {
    const mapping = (secret: unknown) => mappingOf(github, "gh", { signature: { scheme: "github", secret } });
    await start([mapping(github.secret)]);
    const sent = github.send({ at });
    const first = await send("gh", sent);
    const { config } = hooks;
    const both = mapping([github.otherSecret, github.secret]) as HookServer["config"]["hooks"]["mappings"][number];
    hooks.config = { ...config, hooks: { ...config.hooks, mappings: [both] } };
    expect((await send("gh", github.send({ at, secret: github.otherSecret, id: "other" }))).status).toBe(202);
    expect((await send("gh", sent)).text).toBe(first.text);
    expect(hooks.events).toHaveLength(2);
  });

  test("Twilio's signature covers the public address with its query", async () => {
    const twilio = senderOf("twilio");
    await start([mappingOf(twilio, "sms", { messageTemplate: "{{From}}: {{Body}}" })]);
    const sent = twilio.send({ at });
    expect((await send("sms?a=1", sent)).status).toBe(401);
    expect((await send("sms", sent)).status).toBe(202);
    expect(JSON.stringify(hooks.events)).toContain("+14158675309: Grüße & more");
    expect(publicUrl).not.toContain(String(hooks.port));
  });
});

describe("a running gateway", () => {
  const turns: string[] = [];
  async function open(): Promise<TestHost> {
    const host = await createTestHost({
      config: configWith(github.secret),
      answer({ inbound }) {
        // A run's summary is followed by a heartbeat, which is a turn as well.
        if (inbound.kind === "hook") turns.push(inbound.text);
        return "done";
      },
    });
    onTestFinished(() => host.close());
    return host;
  }
  const configWith = (secret: unknown) => ({
    hooks: {
      token: hookToken,
      mappings: [
        {
          id: "gh",
          match: { path: "gh" },
          messageTemplate: "{{text}}",
          deliver: false,
          signature: { scheme: "github", secret },
        },
      ],
    },
  });

  test("runs a delivery once if replayed at once and after a restart, and returns the first response", async () => {
    turns.length = 0;
    const host = await open();
    const sent = github.send({ at });
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(`${host.url}/hooks/gh`, sent)));
    const [first] = answers;
    expect(first).toMatchObject({ status: 202, json: { ok: true, runId: expect.any(String) } });
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    await host.settled(String(first?.json.eventId));
    await host.restart();
    expect((await post(`${host.url}/hooks/gh`, sent)).text).toBe(first?.text);
    expect((await post(`${host.url}/hooks/gh`, github.send({ at: at + 1, id: "another" }))).json.runId).not.toBe(
      first?.json.runId,
    );
    expect(turns.length).toBeLessThanOrEqual(2);
  });

  test("accepts a replaced secret from the next request on and rejects the old one", async () => {
    const host = await open();
    let deliveries = 0;
    const judge = async (secret: string): Promise<number> => {
      deliveries += 1;
      return (await post(`${host.url}/hooks/gh`, github.send({ at, secret, id: `d${deliveries}` }))).status;
    };
    expect(await judge(github.secret)).toBe(202);
    await host.configure(configWith([github.otherSecret, github.secret]));
    expect(await judge(github.otherSecret)).toBe(202);
    expect(await judge(github.secret)).toBe(202);
    await host.configure(configWith(github.otherSecret));
    expect(await judge(github.secret)).toBe(401);
    expect(await judge(github.otherSecret)).toBe(202);
  });
});
