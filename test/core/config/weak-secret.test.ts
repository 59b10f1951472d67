import { createHmac } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createGateway } from "../../../core/index.ts";
import { createTestHost, type TestHost } from "../../../core/testkit/index.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const post = async (host: TestHost, token: string): Promise<number> => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return (await host.fetch("/hooks/wake", { method: "POST", headers, body: '{"text":"up","mode":"next-heartbeat"}' }))
    .status;
};

test("a gateway with tokens of 8 to 15 characters starts and warns of each token without showing it", async () => {
  await using host = await createTestHost({
    config: { gateway: { auth: { token: "weak-gateway" } }, hooks: { token: "weak-hook" } },
  });
  const problems = await host.problems();
  expect(problems.map(({ severity, path }) => `${severity} ${path}`)).toEqual([
    "warning gateway.auth.token",
    "warning hooks.token",
  ]);
  expect(JSON.stringify(problems)).not.toMatch(/weak-gateway|weak-hook/);
  expect(await post(host, "weak-hook")).toBe(200);
  const logged = readFileSync(join(host.directory, "state", "logs", "gateway.log"), "utf8").split("\n");
  expect(logged.filter((line) => line.includes("has fewer than 16 characters"))).toHaveLength(2);
});

test("a literal token is trimmed like one from the environment", async () => {
  await using host = await createTestHost({ config: { hooks: { token: "  the-hook-token-of-the-test\n" } } });
  expect(await post(host, "the-hook-token-of-the-test")).toBe(200);
});

test("a blank token keeps the hook server disabled", async () => {
  await using host = await createTestHost({
    config: { hooks: { token: "   " } },
    allowErrors: [/at hooks\.token|^hooks\.token/],
  });
  expect(await post(host, "   ")).toBe(404);
  expect(await host.problems()).toMatchObject([{ severity: "error", path: "hooks.token" }]);
});

const ways: readonly (readonly [string, unknown])[] = [
  ["in the file", "4821"],
  ["with space around it", " 4821567 \n"],
  ["of the environment", { env: "SHORT" }],
  ["of another file", { file: "short-token" }],
];

function withShortToken(): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "short-token"), "4821\n");
  return directory;
}

test.each(ways)("a hook token of fewer than eight characters %s keeps the hook server disabled", async (_, token) => {
  await using host = await createTestHost({
    config: { hooks: { token } },
    environment: { SHORT: "4821" },
    directory: withShortToken(),
    allowErrors: [/hooks\.token/],
  });
  expect(await post(host, "4821")).toBe(404);
  expect(await host.problems()).toMatchObject([
    {
      severity: "error",
      path: "hooks.token",
      message: expect.stringContaining("has fewer than 8 characters"),
      hint: expect.stringContaining("openssl"),
    },
  ]);
});

test.each(ways)(
  "a gateway with its own token of fewer than eight characters %s does not start, and the error gives the fix",
  async (_, token) => {
    const directory = withShortToken();
    const configFile = join(directory, "config.jsonc");
    writeFileSync(configFile, JSON.stringify({ gateway: { port: 0, auth: { token } }, state: { dir: "state" } }));
    await expect(createGateway({ configFile, environment: { SHORT: "4821" }, home: directory })).rejects.toMatchObject({
      code: "secret_weak",
      message: expect.stringMatching(/^gateway\.auth\.token has fewer than 8 characters/),
      hint: expect.stringContaining("openssl rand"),
    });
  },
);

test("a gateway does not start if its generated token was replaced by a short one", async () => {
  const directory = temporaryDirectory();
  const configFile = join(directory, "config.jsonc");
  writeFileSync(configFile, JSON.stringify({ gateway: { port: 0 }, state: { dir: "state" } }));
  mkdirSync(join(directory, "state"));
  writeFileSync(join(directory, "state", "gateway-token"), "x\n");
  await expect(
    createGateway({ configFile, environment: {}, home: directory, acceptNewState: true }),
  ).rejects.toMatchObject({
    code: "secret_weak",
  });
});

test.each(["aaaaaaaaaaaaaaaaaaaaaaaa", "abababababababababababab"])(
  "a hook token of a few repeated characters keeps the hook server disabled: %s",
  async (token) => {
    await using host = await createTestHost({ config: { hooks: { token } }, allowErrors: [/hooks\.token/] });
    expect(await post(host, token)).toBe(404);
    expect(await host.problems()).toMatchObject([
      { severity: "error", message: expect.stringContaining("has fewer than 4 different characters") },
    ]);
  },
);

test.each([
  ["base64 after whsec_", { scheme: "standard-webhooks", secret: "whsec_NDgyMQ==" }],
  ["hexadecimal", { scheme: "hmac", header: "x-hub-signature-256", secret: "34383231343832", secretEncoding: "hex" }],
  ["base64", { scheme: "hmac", header: "x-hub-signature-256", secret: "NDgyMTQ4Mg==", secretEncoding: "base64" }],
])(
  "a mapping whose key has fewer than eight bytes in %s is disabled, however long its text is",
  async (_, signature) => {
    const mappings = [{ match: { path: "signed" }, messageTemplate: "x", deliver: false, signature }];
    await using host = await createTestHost({
      config: { hooks: { token: "the-hook-token-of-the-test", mappings } },
      allowErrors: [/signature/],
    });
    expect(await host.problems()).toContainEqual(
      expect.objectContaining({ severity: "error", message: expect.stringContaining("fewer than 8 bytes") }),
    );
  },
);

/** What a sender proves itself with at a mapping. Each secret is one that such a server could have. */
const signatures: readonly (readonly [string, object])[] = [
  ["github", { scheme: "github", secret: "4821" }],
  ["a token in a header", { scheme: "token", header: "x-token", secret: "4821" }],
  ["one of two", { scheme: "github", secret: ["the-secret-of-the-mapping", "4821"] }],
  ["of the environment", { scheme: "github", secret: { env: "SHORT" } }],
];

test.each(signatures)(
  "a mapping whose secret has fewer than eight characters is disabled: %s",
  async (_, signature) => {
    const mappings = [{ match: { path: "signed" }, messageTemplate: "x", deliver: false, signature }];
    await using host = await createTestHost({
      config: { hooks: { token: "the-hook-token-of-the-test", mappings } },
      environment: { SHORT: "4821" },
      allowErrors: [/signature/],
    });
    const body = '{"a":1}';
    const headers = {
      "content-type": "application/json",
      "x-hub-signature-256": `sha256=${createHmac("sha256", "4821").update(body).digest("hex")}`,
      "x-token": "4821",
    };
    expect((await host.fetch("/hooks/signed", { method: "POST", headers, body })).status).toBeGreaterThanOrEqual(400);
    expect(await host.problems()).toContainEqual(
      expect.objectContaining({ severity: "error", message: expect.stringContaining("has fewer than 8 characters") }),
    );
  },
);

test("a running gateway keeps its tokens if the file changes to ones that are easy to guess", async () => {
  const tokens = {
    gateway: { auth: { token: "the-token-of-the-gateway" } },
    hooks: { token: "the-hook-token-of-the-test" },
  };
  await using host = await createTestHost({ config: tokens, allowErrors: [/token/, /sections with an error/] });
  const file = join(host.directory, "config.jsonc");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("the-hook-token-of-the-test", "4821").replace("the-token-of-the-gateway", "x"));
  const log = () => readFileSync(join(host.directory, "state", "logs", "gateway.log"), "utf8");
  await vi.waitFor(() => expect(log()).toMatch(/hooks\.token[^\n]*fewer than 8 characters/), 10_000);
  const describe = (token: string) =>
    host.fetch("/gateway/describe", { headers: { authorization: `Bearer ${token}` } });
  expect((await describe("x")).status).toBe(401);
  expect((await describe("the-token-of-the-gateway")).status).toBe(200);
  expect(await post(host, "4821")).not.toBe(200);
});
