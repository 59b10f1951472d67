/**
 * Logins that are refused and come back: passwords in files, access tokens that end, refresh tokens that are replaced
 * or withdrawn.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";
import { startImapServer } from "../../support/mail/imap-server.ts";
import { letter, testWithReader } from "../../support/mail/reader.ts";
import { startTokenServer, type TokenServer } from "../../support/mail/token-server.ts";

const test = testWithReader(async () => {
  const server = await startImapServer();
  server.offer({ mechanisms: ["PLAIN", "XOAUTH2"] });
  return server;
})
  .extend("tokens", async ({ server, onTestFinished }) => {
    const tokens = await startTokenServer({ issue: (token) => server.tokens.add(token) });
    onTestFinished(() => tokens.close());
    return tokens;
  })
  .extend("secrets", ({ onTestFinished }) => {
    const secrets = temporaryDirectory();
    onTestFinished(() => removeDirectory(secrets));
    return secrets;
  });

const oauth = (tokens: TokenServer, refreshToken: unknown) => ({
  oauth: {
    tokenUrl: tokens.url,
    clientId: "app",
    clientSecret: "client-secret-of-app",
    refreshToken,
    scope: "imap offline_access",
  },
});

test.concurrent("a password in a file is reread until the server accepts it, without a storm of logins", async ({
  server,
  reader,
  secrets,
}) => {
  const file = join(secrets, "password");
  writeFileSync(file, "wrong-password\n");
  await reader.start({ account: { password: { file } }, watched: false });
  await reader.logged(/needs_login/, 15_000);
  const tried = server.count("AUTHENTICATE");
  expect(tried).toBe(3);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(server.count("AUTHENTICATE")).toBe(tried);
  writeFileSync(file, `${server.password()}\n`);
  await reader.logged(/the mailbox is watched/, 30_000);
  await server.deliver(letter("Well again"));
  await reader.arrived(1);
  expect(reader.log()).not.toMatch(/wrong-password|secret-of-ada/);
}, 60_000);

describe.concurrent("a mailbox with OAuth", () => {
  test("requests an access token, uses it until it expires, and logs none of it", async ({
    server,
    reader,
    tokens,
  }) => {
    await reader.start({ account: oauth(tokens, "refresh-token-0") });
    await server.deliver(letter("One"));
    await reader.arrived(1);
    await server.kick();
    await server.deliver(letter("Two"));
    await reader.arrived(2);
    const forms = tokens.asked.map((form) => Object.fromEntries(form));
    const form = {
      grant_type: "refresh_token",
      client_id: "app",
      client_secret: "client-secret-of-app",
      refresh_token: "refresh-token-0",
    };
    expect(forms).toEqual([{ ...form, scope: "imap offline_access" }]);
    expect(reader.log()).not.toMatch(/refresh-token|access-token|client-secret/);
  });

  test("requests another access token if the server rejects one early", async ({ server, reader, tokens }) => {
    await reader.start({ account: oauth(tokens, "refresh-token-0") });
    server.tokens.clear();
    await server.kick();
    await server.deliver(letter("One"));
    await reader.arrived(1);
    expect(tokens.asked).toHaveLength(2);
  });

  test("stores a refresh token that the provider replaced, also across a restart", async ({
    server,
    reader,
    tokens,
  }) => {
    tokens.rotate(true);
    tokens.lives(1);
    const account = oauth(tokens, "refresh-token-0");
    const { directory } = await reader.start({ account });
    await reader.stop();
    await reader.start({ account, directory });
    await server.deliver(letter("One"));
    await reader.arrived(1);
    expect(tokens.asked.map((form) => form.get("refresh_token")).slice(0, 2)).toEqual([
      "refresh-token-0",
      "refresh-token-0+",
    ]);
    expect(reader.log()).not.toMatch(/refresh-token/);
  });

  test("requires a login once the refresh token is revoked, and continues with a new one without a restart", async ({
    server,
    reader,
    tokens,
    secrets,
  }) => {
    const file = join(secrets, "token");
    writeFileSync(file, "withdrawn-token");
    await reader.start({ account: oauth(tokens, { file }), watched: false });
    await reader.logged(/needs_login.*invalid_grant|invalid_grant.*needs_login/);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(tokens.asked).toHaveLength(1);
    writeFileSync(file, "refresh-token-0");
    await reader.logged(/the mailbox is watched/, 30_000);
    await server.deliver(letter("One"));
    await reader.arrived(1);
    expect(reader.log()).not.toMatch(/withdrawn-token|refresh-token/);
  }, 60_000);

  test("requires a login if the server rejects every token from the provider", async ({ reader, onTestFinished }) => {
    const tokens = await startTokenServer({ issue: () => {} });
    onTestFinished(() => tokens.close());
    await reader.start({ account: oauth(tokens, "refresh-token-0"), watched: false });
    await reader.logged(/refused the access token/);
    await reader.logged(/needs_login/, 15_000);
    expect(tokens.asked.length).toBeLessThanOrEqual(3);
  }, 30_000);

  test("requires a setup if the token endpoint is neither encrypted nor on this machine", async ({
    reader,
    tokens,
  }) => {
    const { oauth: settings } = oauth(tokens, "refresh-token-0");
    await reader.start({ account: { oauth: { ...settings, tokenUrl: "http://login.example/token" } }, watched: false });
    await reader.logged(/needs_setup.*oauth\.tokenUrl|oauth\.tokenUrl.*needs_setup/);
  });
});
