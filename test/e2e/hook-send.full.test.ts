/** `hooks send` against a running gateway: each scheme signs what its own check accepts. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { programCommand } from "../../core/contract/command.ts";
import { credentials, schemes } from "../../core/webhooks/signature/schemes.ts";
import { run } from "../core/cli/command-runner.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { closeHookGateways, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

const secret = "a-long-secret-of-the-sender";
const standardSecret = `whsec_${Buffer.from("a-long-secret-of-the-sender-0123").toString("base64")}`;
const publicKey = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
const mapping = (path: string, more: object) => ({
  match: { path },
  messageTemplate: `${path}: {{ payload }}`,
  deliver: false,
  ...more,
});

const special: Readonly<Record<string, object>> = {
  "standard-webhooks": { secret: standardSecret },
  svix: { secret: standardSecret },
  discord: { secret: publicKey },
  meta: { verifyToken: "the-token-that-meta-shows" },
  basic: { user: "ada" },
  "aws-sns": { user: "ada" },
};
const named = [...Object.keys(schemes), ...Object.keys(credentials)];
const signatures: readonly (readonly [string, object])[] = [
  ...named.map((scheme) => [scheme, { scheme, ...special[scheme] }] as const),
  ["gitlab-signing", { scheme: "gitlab", secret: standardSecret }],
  ["rotated", { scheme: "github", secret: [`${secret}-new`, secret] }],
  ["twilio-public", { scheme: "twilio", url: "https://hooks.example.org/twilio" }],
  ["header", { scheme: "header", header: "X-Api-Key", prefix: "Key " }],
  ["hmac", { scheme: "hmac", header: "X-Sign", algorithm: "sha512", encoding: "base64url", prefix: "v9=" }],
  [
    "hmac-timed",
    {
      scheme: "hmac",
      header: "X-Sign",
      timestampHeader: "X-Time",
      idHeader: "X-Id",
      payload: "{id}-{timestamp}-{url}-{body}",
    },
  ],
];

const room = await startHookGateway({
  hooks: {
    mappings: [
      ...signatures.map(([path, signature]) => mapping(path, { signature: { secret, ...signature } })),
      mapping("plain", { id: "by-name" }),
      mapping("own", { token: secret }),
      mapping("form", { body: "form" }),
      mapping("text", { body: "text" }),
    ],
  },
});

const where = ["--config", room.host.configFile, "--state", room.stateDirectory];
let files = 0;
function fileWith(content: unknown): string {
  files += 1;
  const file = join(room.directory, `delivery-${files}.json`);
  writeFileSync(file, JSON.stringify(content));
  return file;
}
const send = (name: string, content: unknown, ...flags: string[]) =>
  run(["hooks", "send", name, fileWith(content), ...flags, ...where], { home: temporaryDirectory() });
const json = async (name: string, content: unknown, ...flags: string[]) => {
  const { code, out } = await send(name, content, ...flags, "--json");
  return { code, ...JSON.parse(out) };
};
const payload = (mark: string) => ({ mark, value: [{ resource: "me/messages" }] });
const turnWith = (mark: string) => room.turn(({ inbound }) => inbound.text.includes(mark));

describe("hooks send --sign", () => {
  test.each(signatures.map(([path]) => path).filter((path) => path !== "discord"))(
    "%s: the gateway accepts the signature",
    async (path) => {
      const mark = `mark-of-${path}`;
      const sent = await json(path, payload(mark), "--sign");
      expect(sent).toMatchObject({ code: 0, status: 202, answer: { ok: true }, eventIds: [expect.any(String)] });
      expect((await turnWith(mark)).inbound.text).toContain(`${path}: `);
      expect(JSON.stringify(sent)).not.toContain(secret);
    },
  );

  test("discord is refused, because its requests cannot be signed", async () => {
    const { code, err } = await send("discord", {}, "--sign");
    expect(code).toBe(1);
    expect(err).toContain("only the platform has the private key");
  });

  test("shows the status, the response and the command for the event; each replay is a new delivery", async () => {
    const recording = {
      $delivery: 1,
      path: "elsewhere",
      headers: { "webhook-id": "recorded" },
      payload: payload("recorded"),
    };
    const ids: string[] = [];
    for (let time = 0; time < 2; time += 1) {
      const { code, out } = await send("standard-webhooks", recording, "--sign");
      expect(code).toBe(0);
      expect(out).toMatch(
        /^202 from http:\/\/127\.0\.0\.1:\d+\/hooks\/standard-webhooks, with signature standard-webhooks\n {2}\{"ok":true/,
      );
      const [, id = "", command] = /event (\S+): (.*)\n/.exec(out) ?? [];
      expect(command).toBe(`${programCommand} why ${id}`);
      ids.push(id);
    }
    expect(ids[0]).not.toBe(ids[1]);
    const same = ["--sign", "--header", "Webhook-Id: chosen"];
    const first = await json("standard-webhooks", recording, ...same);
    expect((await json("standard-webhooks", recording, ...same)).eventIds).toEqual(first.eventIds);
  });

  test("rejects a wrong signature header from the caller with exit code 1", async () => {
    const sent = await json(
      "github",
      payload("forged"),
      "--sign",
      "--header",
      `X-Hub-Signature-256: sha256=${"0".repeat(64)}`,
    );
    expect(sent).toMatchObject({ code: 1, status: 401, answer: { code: "signature_invalid" }, eventIds: [] });
  });

  test("reports that a path without a signature has nothing to sign with", async () => {
    const { code, err } = await send("plain", {}, "--sign");
    expect(code).toBe(1);
    expect(err).toContain("it has no signature and no token of its own");
  });

  test("reports a name that no mapping has", async () => {
    const { code, err } = await send("plane", {}, "--sign");
    expect([code, err]).toEqual([1, expect.stringContaining("no mapping has this path or id")]);
  });

  test.each([
    ["the hook token", { token: { env: "ABSENT_TOKEN" }, secret }, "hooks.token"],
    ["the secret", { token: secret, secret: { env: "ABSENT_SECRET" } }, "hooks.mappings[0].signature.secret"],
  ])("names the variable of %s that the shell of the command does not have", async (_, given, path) => {
    const file = join(room.directory, "by-variable.json");
    const mappings = [mapping("github", { signature: { scheme: "github", secret: given.secret } })];
    writeFileSync(file, JSON.stringify({ hooks: { enabled: true, token: given.token, mappings } }));
    const args = ["hooks", "send", "github", fileWith({}), "--sign", "--config", file, "--state", room.stateDirectory];
    const { code, err } = await run(args, { home: temporaryDirectory() });
    expect(code).toBe(1);
    expect(err).toContain(path);
    expect(err).toMatch(/the environment variable ABSENT_\w+ is not set/);
  });

  test("signs a form as a form", async () => {
    const form = ["--sign", "--header", "Content-Type: application/x-www-form-urlencoded"];
    expect(await json("twilio", { Body: "form & more", To: ["b", "a"] }, ...form)).toMatchObject({
      code: 0,
      status: 202,
    });
    expect((await turnWith("form & more")).inbound.text).toContain('"To":["b","a"]');
  });
});

describe("hooks send without --sign", () => {
  test("uses the hook token for mappings by path or id and for endpoints, and sends headers", async () => {
    expect(await json("plain", payload("by path"))).toMatchObject({ code: 0, status: 202, access: "hook token" });
    expect(await json("by-name", payload("by id"))).toMatchObject({
      code: 0,
      url: expect.stringMatching(/\/hooks\/plain$/),
    });
    expect(await json("wake", { text: "up", mode: "next-heartbeat" })).toMatchObject({ code: 0 });
    const again = ["--header", "Idempotency-Key: chosen"];
    const [first, second] = [
      await json("plain", payload("once"), ...again),
      await json("plain", payload("once"), ...again),
    ];
    expect(second.eventIds).toEqual(first.eventIds);
  });

  test("uses a mapping's own token and its body type", async () => {
    expect(await json("own", payload("own"))).toMatchObject({ code: 0, status: 202, access: "token of the mapping" });
    expect(await json("form", { a: "of a form" })).toMatchObject({ code: 0, status: 202 });
    expect(await json("text", "only text")).toMatchObject({ code: 0, status: 202 });
    const { code, err } = await send("text", { a: 1 });
    expect([code, err]).toEqual([1, expect.stringContaining("its payload is no text")]);
  });

  test("reports the missing signature when a signed path refuses the request", async () => {
    const { code, out, err } = await send("github", {});
    expect(code).toBe(1);
    expect(out).toMatch(/^401 from .*, with hook token\n/);
    expect(`${out}${err}`).toContain("add --sign");
    expect(out).toContain("the reason, and what to change: ");
  });

  test("reports that no gateway is running", async () => {
    const home = temporaryDirectory();
    const { code, err } = await run(["hooks", "send", "plain", fileWith({}), "--state", home], { home });
    expect([code, err]).toEqual([1, expect.stringContaining("No gateway is running on")]);
  });
});
