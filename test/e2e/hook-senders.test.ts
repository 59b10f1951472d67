/**
 * The settings of the page "Settings of webhook senders", each with a delivery as its sender makes it, and with the
 * sender's test of the address.
 */
import { createHash, createHmac, generateKeyPairSync, randomUUID, sign as signWithKey } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseDocument } from "../../core/config/reading/document.ts";
import { run } from "../core/cli/command-runner.ts";
import { read } from "../house/sources.ts";
import { temporaryDirectory } from "../support/directory.ts";
import type { Post, WireAnswer } from "../support/wire.ts";
import { anotherClient, closeHookGateways, type HookGateway, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

interface Recipe {
  readonly title: string;
  readonly mapping: {
    readonly match: { readonly path: string };
    readonly signature?: { readonly secret?: unknown };
    readonly token?: unknown;
    readonly challenge?: object;
  };
}

const recipes: readonly Recipe[] = read("examples/reference/webhook-senders.md")
  .split("\n### ")
  .slice(1)
  .map((part) => ({
    title: part.split("\n", 1)[0] ?? "",
    mapping: parseDocument(/```jsonc\n(.*?)```/s.exec(part)?.[1] ?? "", "page").value as Recipe["mapping"],
  }));

const secret = "the-secret-that-both-sides-know";
const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const verificationKey = publicKey.export({ format: "der", type: "spki" }).toString("base64");

const hmac = (text: string, encoding: "hex" | "base64" = "hex", algorithm = "sha256") =>
  createHmac(algorithm, secret).update(text).digest(encoding);
/** As FusionAuth makes it: no time, and the digest in base64. */
const token = (body: string) => {
  const part = (members: object) => Buffer.from(JSON.stringify(members)).toString("base64url");
  const digest = createHash("sha256").update(body).digest("base64");
  const signed = `${part({ alg: "HS256", kid: "a1", typ: "JWT" })}.${part({ request_body_sha256: digest })}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
};
const basic = (user: string) => ({ authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}` });
const seconds = () => String(Math.floor(Date.now() / 1_000));
const json = { "content-type": "application/json" };

type Sent = Pick<Post, "method" | "body"> & {
  readonly query?: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Headers of a signature in fields of one header. */
const fields =
  (header: string, format: (time: string, digest: string) => string, between = ".") =>
  (body: string): Sent => {
    const time = header === "workos-signature" ? String(Date.now()) : seconds();
    return { headers: { ...json, [header]: format(time, hmac(`${time}${between}${body}`)) }, body };
  };

const boundary = "xYzZY";
const multipart =
  (name: string, credential: Pick<Sent, "query"> & { readonly headers?: Sent["headers"] }) =>
  (body: string): Sent => ({
    ...credential,
    headers: { ...credential.headers, "content-type": `multipart/form-data; boundary=${boundary}` },
    body: `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${body}\r\n--${boundary}--\r\n`,
  });

/** A delivery of each sender: its payload, and what is made of it. */
const deliveries: Readonly<Record<string, readonly [payload: string, send: (body: string) => Sent]>> = {
  Webflow: [
    '{"triggerType":"form_submission"}',
    (body) => {
      const time = String(Date.now());
      return {
        headers: { ...json, "x-webflow-timestamp": time, "x-webflow-signature": hmac(`${time}:${body}`) },
        body,
      };
    },
  ],
  HubSpot: [
    '[{"subscriptionType":"contact.creation"}]',
    (body) => {
      const time = String(Date.now());
      const text = `POSThttps://hooks.example.com/hooks/hubspot${body}${time}`;
      return {
        headers: { ...json, "x-hubspot-request-timestamp": time, "x-hubspot-signature-v3": hmac(text, "base64") },
        body,
      };
    },
  ],
  WorkOS: [
    '{"event":"dsync.user.created","data":{}}',
    fields("workos-signature", (time, digest) => `t=${time}, v1=${digest}`),
  ],
  Zendesk: [
    '{"type":"ticket.created"}',
    (body) => {
      const time = new Date().toISOString().replace(/\.\d+/, "");
      const signed = hmac(time + body, "base64");
      return {
        headers: { ...json, "x-zendesk-webhook-signature": signed, "x-zendesk-webhook-signature-timestamp": time },
        body,
      };
    },
  ],
  Twitch: ['{"subscription":{"type":"stream.online"},"event":{}}', (body) => twitch("notification", body)],
  Tailscale: [
    '[{"message":"a node was created"}]',
    fields("tailscale-webhook-signature", (time, digest) => `t=${time},v1=${digest}`),
  ],
  ElevenLabs: [
    '{"type":"post_call_transcription","data":{}}',
    fields("elevenlabs-signature", (time, digest) => `t=${time},v0=${digest}`),
  ],
  Mux: [
    '{"type":"video.asset.ready","data":{"id":"a"}}',
    fields("mux-signature", (time, digest) => `t=${time},v1=${digest}`),
  ],
  Paddle: [
    '{"event_type":"transaction.completed"}',
    fields("paddle-signature", (time, digest) => `ts=${time};h1=${digest}`, ":"),
  ],
  DocuSeal: [
    '{"event_type":"form.completed","data":{"id":1}}',
    fields("x-docuseal-signature", (time, digest) => `${time}.${digest}`),
  ],
  "SendGrid events": [
    '[{"event":"open","email":"a@example.org"},{"event":"click","email":"a@example.org"}]',
    (body) => {
      const time = seconds();
      const signature = signWithKey("sha256", Buffer.from(time + body), privateKey).toString("base64");
      return {
        headers: {
          ...json,
          "x-twilio-email-event-webhook-timestamp": time,
          "x-twilio-email-event-webhook-signature": signature,
        },
        body,
      };
    },
  ],
  FusionAuth: [
    '{"event":{"type":"user.create","user":{"email":"a@example.org"}}}',
    (body) => ({ headers: { ...json, "x-fusionauth-signature-jwt": token(body) }, body }),
  ],
  Notion: [
    '{"type":"page.created","entity":{"id":"p"}}',
    (body) => ({ headers: { ...json, "x-notion-signature": `sha256=${hmac(body)}` }, body }),
  ],
  Asana: [
    '{"events":[{"action":"added"}]}',
    (body) => ({ headers: { ...json, "x-hook-signature": hmac(body) }, body }),
  ],
  Trello: [
    '{"action":{"type":"updateCard","data":{}}}',
    (body) => ({
      headers: { ...json, "x-trello-webhook": hmac(`${body}https://hooks.example.com/hooks/trello`, "base64", "sha1") },
      body,
    }),
  ],
  Okta: [
    '{"data":{"events":[{"displayMessage":"User login"}]}}',
    (body) => ({ headers: { ...json, authorization: `Bearer ${secret}` }, body }),
  ],
  "Azure Event Grid": [
    '[{"eventType":"Blob.Created","subject":"a.txt","data":{}}]',
    (body) => ({
      headers: { ...json, authorization: `Bearer ${secret}`, "aeg-event-type": "Notification" },
      body,
    }),
  ],
  YouTube: [
    "<feed><entry><title>A video</title></entry></feed>",
    (body) => ({
      headers: { "content-type": "application/atom+xml", "x-hub-signature": `sha1=${hmac(body, "hex", "sha1")}` },
      body,
    }),
  ],
  Mailchimp: [
    "type=subscribe&data%5Bemail%5D=a%40example.org",
    (body) => ({
      query: `key=${secret}`,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body,
    }),
  ],
  monday: ['{"event":{"type":"create_pulse"}}', (body) => ({ query: `key=${secret}`, headers: json, body })],
  "SendGrid Inbound Parse": ["Hello", multipart("text", { headers: basic("sendgrid") })],
  Plex: ['{"event":"media.play"}', multipart("payload", { query: `key=${secret}` })],
  "A camera": [
    "<EventNotificationAlert/>",
    (body) => ({ headers: { ...basic("camera"), "content-type": "application/xml" }, body }),
  ],
  "Fluent Bit and Vector": [
    '{"log":"a"}\n{"log":"b"}\n',
    (body) => ({
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/x-ndjson",
        "content-encoding": "gzip",
      },
      body: gzipSync(body),
    }),
  ],
  Shelly: ["button=door", (query) => ({ method: "GET", query, headers: basic("shelly") })],
};

function twitch(type: string, body: string): Sent {
  const [id, time] = [randomUUID(), new Date().toISOString().replace("Z", "123456Z")];
  return {
    headers: {
      ...json,
      "twitch-eventsub-message-id": id,
      "twitch-eventsub-message-timestamp": time,
      "twitch-eventsub-message-signature": `sha256=${hmac(id + time + body)}`,
      "twitch-eventsub-message-type": type,
    },
    body,
  };
}

let room: HookGateway;
const pathOf = (title: string) => recipes.find((recipe) => recipe.title === title)?.mapping.match.path ?? "";

/** As an operator completes it: with the secret, where the page reads it from a variable. */
function complete({ title, mapping }: Recipe, known = secret) {
  const { signature, token } = mapping;
  const value = title === "SendGrid events" ? verificationKey : known;
  return {
    ...mapping,
    deliver: false,
    wakeMode: "next-heartbeat",
    ...(token === undefined ? {} : { token: value }),
    ...(signature?.secret === undefined ? {} : { signature: { ...signature, secret: value } }),
  };
}

beforeAll(async () => {
  room = await startHookGateway({ hooks: { mappings: recipes.map((recipe) => complete(recipe)) } });
});

const send = (title: string, { method = "POST", query, headers, body = "" }: Sent) =>
  room.send({
    method,
    target: `/hooks/${pathOf(title)}${query === undefined ? "" : `?${query}`}`,
    headers: [anotherClient(), ...Object.entries(headers)],
    body,
  });

const command = (...args: readonly string[]) =>
  run([...args, "--config", room.host.configFile, "--state", room.stateDirectory], { home: temporaryDirectory() });

/** Changes a mapping of the file by hand, and waits until the gateway uses it. */
async function change(
  title: string,
  edit: (mapping: Record<string, unknown>) => object,
  isUsed: () => Promise<boolean>,
): Promise<void> {
  const config = JSON.parse(readFileSync(room.host.configFile, "utf8")) as {
    hooks: { mappings: { match: { path: string } }[] };
  };
  config.hooks.mappings = config.hooks.mappings.map((mapping) =>
    mapping.match.path === pathOf(title) ? (edit(mapping as never) as { match: { path: string } }) : mapping,
  );
  writeFileSync(room.host.configFile, JSON.stringify(config));
  for (
    const end = performance.now() + 10_000;
    !(await isUsed());
    await new Promise((resolve) => setTimeout(resolve, 20))
  )
    if (performance.now() > end) throw new Error("the configuration was not reloaded");
}

test("the page has a delivery for each of its senders; its settings have no problem but missing secrets", async () => {
  expect(Object.keys(deliveries).toSorted()).toEqual(recipes.map(({ title }) => title).toSorted());
  const { out } = await command("config", "validate");
  expect(
    out
      .match(/^.*(?:error|warning).*$/gim)
      ?.filter((line) => !/signature\.secret: is missing|channels\.loopback/.test(line)),
  ).toEqual([]);
});

const withSecret = recipes.filter(
  ({ mapping }) => mapping.token !== undefined || mapping.signature?.secret !== undefined,
);

describe.each(withSecret.map(({ title }) => title))("%s", (title) => {
  const [payload = "", make] = deliveries[title] ?? [];
  if (make === undefined) throw new Error(`${title} has no delivery`);

  test("its delivery is accepted", async () => {
    const answer = await send(title, make(payload));
    expect([202, 204], answer.body).toContain(answer.status);
  });

  test("one with another body, secret or time is refused", async () => {
    let sent = make(payload);
    const other = Buffer.isBuffer(sent.body) ? gzipSync("other") : `${sent.body}x`;
    const isInAddress = sent.method !== "GET" && sent.query !== undefined;
    const isSigned =
      recipes.find((recipe) => recipe.title === title)?.mapping.signature !== undefined &&
      sent.headers.authorization === undefined &&
      !isInAddress;
    if (isSigned) expect((await send(title, { ...sent, body: other })).status).toBe(401);
    const changed = Object.entries(sent.headers).map(([name, value]) => [
      name,
      /signature(?:-v3|-ed25519|-jwt)?$|x-trello-webhook|authorization/.test(name) ? altered(value) : value,
    ]);
    const query = isInAddress ? altered(sent.query ?? "") : sent.query;
    expect((await send(title, { ...sent, query, headers: Object.fromEntries(changed) })).status).toBe(401);
    if (isInAddress)
      for (const forged of ["", "key=", `KEY=${secret}`, `key=${secret}&key=${secret}`, `key=${secret}%00`])
        expect((await send(title, { ...sent, query: forged })).status, forged).toBe(401);
    if (isInAddress) sent = { ...sent, query: undefined };
    const { authorization: _, ...bare } = sent.headers;
    const unsigned = Object.fromEntries(
      Object.entries(bare).filter(([name]) => !/signature|x-trello-webhook/.test(name)),
    );
    expect((await send(title, { ...sent, headers: unsigned })).status).toBe(401);
    expect(
      (
        await send(title, {
          ...sent,
          headers: { ...unsigned, authorization: "Bearer black-box-hook-token-0123456789" },
        })
      ).status,
    ).toBe(401);
  });
});

/** With another letter near the end. */
const altered = (value: string) => value.replace(/.(?=.{5}$)/, (letter) => (letter === "0" ? "1" : "0"));

const get = (title: string, method: string, query = "", headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${room.host.url}/hooks/${pathOf(title)}${query}`, { method, headers });

describe("tests of the address", () => {
  test("HEAD and GET without a value get 200, whoever asks", async () => {
    for (const [title, method] of [
      ["Trello", "HEAD"],
      ["Mailchimp", "GET"],
    ] as const) {
      const answer = await get(title, method);
      expect([answer.status, await answer.text(), answer.headers.get("content-type")]).toEqual([
        200,
        "",
        "text/plain; charset=utf-8",
      ]);
      expect((await get(title, "PUT")).status).toBe(405);
    }
    expect((await get("Trello", "GET")).status).toBe(405);
    expect((await get("Zendesk", "HEAD")).status).toBe(405);
  });

  test("Okta gets its header back as JSON, YouTube its parameter as text", async () => {
    const okta = await get("Okta", "GET", "", { "X-Okta-Verification-Challenge": "abc-123" });
    expect([okta.status, await okta.json()]).toEqual([200, { verification: "abc-123" }]);
    expect((await get("Okta", "GET")).status).toBe(401);
    const youtube = await get("YouTube", "GET", "?hub.mode=subscribe&hub.challenge=5%3Cscript%3E");
    expect([youtube.status, await youtube.text(), youtube.headers.get("x-content-type-options")]).toEqual([
      200,
      "5<script>",
      "nosniff",
    ]);
    for (const bad of ["?hub.challenge=", "?hub.challenge=a%0Ab", `?hub.challenge=${"x".repeat(1_001)}`, ""])
      expect((await get("YouTube", "GET", bad)).status, bad).toBe(405);
  });

  test("Twitch gets its text back only with a valid signature; an event with the same field is an event", async () => {
    const body = '{"challenge":"pogchamp-kappa","subscription":{"type":"stream.online"}}';
    expect(await send("Twitch", twitch("webhook_callback_verification", body))).toMatchObject({
      status: 200,
      body: "pogchamp-kappa",
    });
    const forged = twitch("webhook_callback_verification", body);
    expect((await send("Twitch", { ...forged, body: body.replace("kappa", "x") })).status).toBe(401);
    const event = twitch("notification", body);
    expect((await send("Twitch", event)).status).toBe(204);
    const { out } = await command("hooks", "deliveries", "--json");
    expect(
      (JSON.parse(out) as { readonly deliveries: readonly { readonly hook: string }[] }).deliveries[0],
    ).toMatchObject({
      hook: "twitch",
    });
  });

  test("Event Grid is answered without a credential, and monday with the secret in its address", async () => {
    const validation = JSON.stringify([
      { eventType: "Microsoft.EventGrid.SubscriptionValidationEvent", data: { validationCode: "512d38b6" } },
    ]);
    const grid = { headers: { ...json, "aeg-event-type": "SubscriptionValidation" }, body: validation };
    expect(await send("Azure Event Grid", grid)).toMatchObject({
      status: 200,
      json: { validationResponse: "512d38b6" },
    });
    expect((await send("Azure Event Grid", { ...grid, headers: json })).status).toBe(401);
    expect((await send("Azure Event Grid", { ...grid, body: '[{"data":{}}]' })).status).toBe(401);
    const monday = (body: string, query = `key=${secret}`) => send("monday", { query, headers: json, body });
    const test = '{"challenge":"3eZbrw1a"}';
    expect(await monday(test)).toMatchObject({ status: 200, json: { challenge: "3eZbrw1a" } });
    expect((await monday(test, "key=another-secret")).status).toBe(401);
    expect((await monday(test, "")).status).toBe(401);
    expect((await monday('{"challenge":7}')).status).toBe(200);
    expect((await monday('{"challenge":{"a":1}}')).json).toMatchObject({ challenge: '{"a":1}' });
    expect((await monday('{"event":{"challenge":"x"}}')).status).toBe(202);
  });

  test("what a stranger makes the gateway say creates no event", async () => {
    const count = async () =>
      (JSON.parse((await command("hooks", "deliveries", "--limit", "1000", "--json")).out) as { deliveries: object[] })
        .deliveries.length;
    const before = await count();
    await get("Trello", "HEAD");
    await send("Azure Event Grid", {
      headers: { ...json, "aeg-event-type": "SubscriptionValidation" },
      body: '[{"data":{"validationCode":"x"}}]',
    });
    expect(await count()).toBe(before);
  });
});

describe("a value that a person has to copy", () => {
  const shown = async () =>
    (JSON.parse((await command("hooks", "challenges", "--json")).out) as { challenges: Record<string, unknown>[] })
      .challenges;
  const token = "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl";

  test("before the secret is set every delivery is refused, and the reason says what to do", async () => {
    const [payload = "", make] = deliveries.Notion ?? [];
    expect((await send("Notion", make?.(payload) as Sent)).status).toBe(401);
    let out = "";
    // In a flood of refusals, they are written once a second.
    for (const end = performance.now() + 5_000; !out.includes("no secret yet") && performance.now() < end; )
      ({ out } = await command("why", "last"));
    expect(out).toContain("the mapping has no secret yet");
    expect(out).toMatch(/hooks\.mappings\[\d+\]\.signature\.secret/);
    expect(out).toContain("hooks challenges");
    expect((await command("hooks", "list")).out).toMatch(/\/hooks\/notion .*signature \(hmac\), without a secret/);
  });

  test("Notion's token is shown to the operator, and is in no log, event or other output", async () => {
    expect((await command("hooks", "challenges")).out).toContain("no platform has sent a value to copy");
    const answer = await send("Notion", { headers: json, body: JSON.stringify({ verification_token: token }) });
    expect([answer.status, answer.body]).toEqual([200, ""]);
    const { out } = await command("hooks", "challenges");
    expect(out).toContain(token);
    expect(out).toContain("Anyone could have sent this.");
    const deliveriesText = (await command("hooks", "deliveries")).out;
    expect(deliveriesText).toContain("Tests of notion contain values to copy");
    const log = () => readFileSync(join(room.stateDirectory, "logs", "gateway.log"), "utf8");
    await expect.poll(log, { timeout: 10_000 }).toContain("a platform sent a value to copy");
    for (const text of [deliveriesText, (await command("why", "last")).out, log()]) expect(text).not.toContain(token);
  });

  test("once the secret is set its deliveries are accepted, and an unsigned test is refused", async () => {
    const signed = (body: string): Sent => ({
      headers: { ...json, "x-notion-signature": `sha256=${createHmac("sha256", token).update(body).digest("hex")}` },
      body,
    });
    let accepted: WireAnswer | undefined;
    await change(
      "Notion",
      (mapping) => ({ ...mapping, signature: { ...(mapping.signature as object), secret: token } }),
      async () => {
        accepted = await send("Notion", signed('{"type":"page.created","entity":{"id":"p"}}'));
        return accepted.status === 202;
      },
    );
    const before = await shown();
    expect(
      (await send("Notion", { headers: json, body: '{"verification_token":"secret_of_a_stranger"}' })).status,
    ).toBe(401);
    expect(await shown()).toEqual(before);
  });

  test("Asana's secret is sent back in its header, and shown", async () => {
    const answer = await send("Asana", {
      headers: { ...json, "x-hook-secret": "b537207f20cbfa02357cf448134da559" },
      body: "{}",
    });
    expect([answer.status, answer.headers["x-hook-secret"]]).toEqual([200, "b537207f20cbfa02357cf448134da559"]);
    expect(await shown()).toContainEqual(
      expect.objectContaining({ hook: "asana", value: "b537207f20cbfa02357cf448134da559", verified: false }),
    );
    const [payload = "", make] = deliveries.Asana ?? [];
    expect((await send("Asana", make?.(payload) as Sent)).status).toBe(401);
  });

  test("a flood of values is limited for each client, and ten are kept", async () => {
    const client = anotherClient();
    const answers: number[] = [];
    for (let count = 0; count < 30; count += 1) {
      const headers = [client, ...Object.entries({ ...json, "x-hook-secret": `value-${count}` })];
      answers.push((await room.send({ target: "/hooks/asana", headers: headers as never, body: "{}" })).status);
    }
    expect(answers.filter((status) => status === 200).length).toBeLessThanOrEqual(20);
    expect(answers.at(-1)).toBe(429);
    expect((await shown()).length).toBeLessThanOrEqual(10);
  });
});
