/** `service webhooks imap setup` and `teardown`, against a real IMAP server. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { bundled, inherited, temporaryHome } from "../../core/cli/command.ts";
import { run } from "../../core/cli/command-runner.ts";
import { makeCertificate } from "../../support/mail/certificate.ts";
import { hasDovecot, startDovecot } from "../../support/mail/dovecot.ts";
import { startImapServer } from "../../support/mail/imap-server.ts";
import type { MailServer } from "../../support/mail/mail-server.ts";
import { startTokenServer } from "../../support/mail/token-server.ts";

let server: MailServer;
let home: string;

beforeAll(async () => {
  if (!hasDovecot) return;
  server = await startDovecot();
  await server.deliver(
    "From: grace@example.org\nTo: ada@example.net\nSubject: The quarterly figures\nMessage-ID: " +
      "<1@example.org>\n\nHello\n",
  );
});

afterAll(async () => {
  if (hasDovecot) await server.close();
});

beforeEach(() => {
  home = temporaryHome();
  if (hasDovecot) writeFileSync(join(home, "password"), `${server.password()}\n`, { mode: 0o600 });
});

const config = () => readFileSync(join(home, ".service", "config.jsonc"), "utf8");
const mailboxOptions = () => ["--user", "ada", "--host", "127.0.0.1", "--port", String(server.port), "--tls", "false"];
const withPassword = () => [...mailboxOptions(), "--password-file", join(home, "password")];
const imap = (command: string, ...more: readonly string[]) =>
  run(["webhooks", "imap", command, "--account", "ada", ...more], { home, env: { MAIL_PASSWORD: "secret-of-ada" } });
const outcomes = (out: string): readonly string[] => {
  const { steps } = JSON.parse(out) as {
    readonly steps: readonly { readonly step: string; readonly outcome: string }[];
  };
  return steps.map(({ step, outcome }) => `${step}: ${outcome}`);
};

test("a server that closes the connection is told apart from other failures", async () => {
  const closing = createServer((socket) => socket.end());
  await new Promise<void>((listening) => closing.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void closing.close());
  writeFileSync(join(home, "password"), "secret-of-ada\n", { mode: 0o600 });
  const { port } = closing.address() as AddressInfo;
  const to = [
    "--user",
    "ada",
    "--host",
    "127.0.0.1",
    "--port",
    String(port),
    "--tls",
    "false",
    "--password-file",
    join(home, "password"),
  ];
  const { code, out, err } = await imap("setup", ...to, "--dry-run");
  expect(code).toBe(1);
  expect(`${out}${err}`).toContain("127.0.0.1 closed the connection without an answer.");
  expect(`${out}${err}`).toContain("Check host, port and tls");
});

if (!hasDovecot)
  console.warn(
    "Dovecot is not installed (Debian: dovecot-imapd): the setup of mailboxes is not tested against a real server.",
  );

describe.skipIf(!hasDovecot)("webhooks imap setup", () => {
  test("checks the mailbox in a dry run, lists the changes, and makes none", async () => {
    const { code, out } = await imap("setup", ...withPassword(), "--since", "2d", "--dry-run");
    expect(code).toBe(0);
    expect(out).toMatch(/^done +login +127\.0\.0\.1 accepts the login of ada\.$/m);
    for (const step of ["hooks.token", "hooks.enabled", "start", "configuration"])
      expect(out).toMatch(new RegExp(`^would +${step} `, "m"));
    expect(readdirSync(home)).toEqual(["password"]);
  });

  test("writes the account, the token and the switch in the first run, and changes no byte in the second", async () => {
    const first = await imap("setup", ...withPassword(), "--since", "2d", "--json");
    expect([first.code, outcomes(first.out).filter((one) => !one.endsWith(": done"))]).toEqual([0, []]);
    expect(JSON.parse(config())).toEqual({
      hooks: {
        token: { file: join(home, ".service", "hook-token") },
        enabled: true,
        imap: {
          accounts: {
            ada: {
              host: "127.0.0.1",
              port: server.port,
              tls: false,
              user: "ada",
              password: { file: join(home, "password") },
            },
          },
        },
      },
    });
    expect(statSync(join(home, ".service", "config.jsonc")).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, ".service", "hook-token")).mode & 0o777).toBe(0o600);
    const before = config();
    const second = await imap("setup", ...withPassword(), "--since", "2d", "--json");
    expect([second.code, outcomes(second.out).filter((one) => !one.endsWith(": kept"))]).toEqual([0, []]);
    const short = await imap("setup", "--json");
    expect([short.code, outcomes(short.out).filter((one) => !one.endsWith(": kept"))]).toEqual([0, []]);
    expect(config()).toBe(before);
    expect((await run(["config", "validate"], { home })).code).toBe(0);
  });

  test("preserves the file with its comments and changes only the requested settings", async () => {
    const file =
      '{\n  // The agent of the house.\n  "hooks": {\n    "token": "a-token-of-sixteen-characters", // ' +
      'Mine.\n    "path": "/in"\n  }\n}\n';
    const target = join(home, "config.jsonc");
    writeFileSync(target, file, { mode: 0o600 });
    const named = ["--config", target, "--state", join(home, "state")];
    expect((await imap("setup", ...withPassword(), ...named)).code).toBe(0);
    const changed = await imap("setup", "--folder", "INBOX", "--folder", "Work", "--poll-seconds", "30", ...named);
    expect(changed).toMatchObject({ code: 1, out: expect.stringContaining("There are: INBOX") });
    expect((await imap("setup", "--poll-seconds", "30", ...named)).code).toBe(0);
    const written = readFileSync(target, "utf8");
    expect(written).toContain("// The agent of the house.");
    expect(written).toContain('"token": "a-token-of-sixteen-characters", // Mine.');
    expect(written).toContain('"pollSeconds": 30');
    expect(written).not.toContain("Work");
    expect(existsSync(join(home, "hook-token"))).toBe(false);
  });

  test("takes the password from a variable or file; neither it nor a mail's text appears in any output", async () => {
    const all = await Promise.all([
      imap("setup", ...mailboxOptions(), "--password-env", "MAIL_PASSWORD", "--json"),
      imap("setup", ...withPassword(), "--dry-run"),
    ]);
    expect(all.map(({ code }) => code)).toEqual([0, 0]);
    const shown = all.map(({ out, err }) => out + err).join("") + config();
    expect(shown).not.toContain(server.password());
    expect(shown).not.toContain("quarterly");
    expect(JSON.parse(config()).hooks.imap.accounts.ada.password).toEqual({ env: "MAIL_PASSWORD" });
    expect(await imap("setup", ...mailboxOptions(), "--password-env", "A", "--password-file", "b")).toMatchObject({
      code: 2,
    });
  });

  test.each([
    ["a port where nothing listens", ["--port", "1"], "server", "refused the connection", "Check host and port."],
    ["encryption that the server does not offer", ["--tls", "starttls"], "encryption", "STARTTLS", ""],
    ["a wrong user", ["--user", "eva"], "login", "refused the user name or the password", "app password"],
    [
      "a folder that is not there",
      ["--folder", "Nowhere"],
      "folders",
      "The folder Nowhere cannot be opened",
      "There are: INBOX",
    ],
  ])("%s ends the setup at its step with the remedy, and nothing is written", async (_, options, step, detail, fix) => {
    const { code, out } = await imap("setup", ...withPassword(), ...options, "--json");
    const { ok, steps } = JSON.parse(out);
    expect([code, ok]).toEqual([1, false]);
    expect(steps.at(-1)).toMatchObject({
      step,
      outcome: "failed",
      detail: expect.stringContaining(detail),
      fix: expect.stringContaining(fix),
    });
    expect(existsSync(join(home, ".service"))).toBe(false);
  });

  test("sends no password in plain text to another machine", async () => {
    const { code, out } = await imap("setup", ...withPassword(), "--host", "localhost.localdomain", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(out).steps.at(-1)).toMatchObject({ outcome: "failed" });
    expect(out).not.toContain('"login"');
  });

  test("finds session prefixes that would reject the mail before it writes anything", async () => {
    const target = join(home, "config.jsonc");
    const text = '{ "hooks": { "allowedSessionKeyPrefixes": ["hook:github:"] } }\n';
    writeFileSync(target, text);
    const { code, out } = await imap("setup", ...withPassword(), "--config", target, "--state", join(home, "state"));
    expect(code).toBe(1);
    expect(out).toMatch(/failed +mapping .*does not begin with an allowed prefix/);
    expect(out).toContain('Add "hook:imap:" to hooks.allowedSessionKeyPrefixes');
    expect(readFileSync(target, "utf8")).toBe(text);
  });

  test("teardown removes only the account and can be repeated", async () => {
    await imap("setup", ...withPassword(), "--since", "2d");
    await run(["webhooks", "imap", "setup", "--account", "other", ...withPassword()], { home });
    const dry = config();
    expect((await imap("teardown", "--dry-run")).out).toMatch(/^would +configuration /m);
    expect(config()).toBe(dry);
    const first = await imap("teardown", "--json");
    expect(outcomes(first.out)).toEqual(["configuration: done", "password: kept", "place: done"]);
    expect(Object.keys(JSON.parse(config()).hooks.imap.accounts)).toEqual(["other"]);
    expect(JSON.parse(config()).hooks.enabled).toBe(true);
    const second = await imap("teardown", "--json");
    expect([second.code, outcomes(second.out).filter((one) => !one.endsWith(": kept"))]).toEqual([0, []]);
  });
});

test.each(["true", "starttls"])(
  "a self-signed certificate of a server on this machine is pinned with --tls %s",
  async (tls) => {
    const certificate = makeCertificate();
    const bridge = await startImapServer({ tls: certificate, secure: tls === "true" });
    onTestFinished(async () => {
      await bridge.close();
      certificate.remove();
    });
    bridge.offer({ startTls: tls === "starttls" });
    writeFileSync(join(home, "password"), bridge.password(), { mode: 0o600 });
    const options = ["--user", "ada", "--host", "127.0.0.1", "--port", String(bridge.port), "--tls", tls];
    expect((await imap("setup", ...options, "--password-file", join(home, "password"))).code).toBe(0);
    expect(JSON.parse(config()).hooks.imap.accounts.ada.tls).toEqual({
      mode: tls === "true" ? "tls" : tls,
      fingerprint256: certificate.fingerprint256,
    });
    const before = config();
    const second = await imap("setup", ...options, "--json");
    expect([second.code, outcomes(second.out).filter((one) => !one.endsWith(": kept"))]).toEqual([0, []]);
    expect(config()).toBe(before);
  },
);

test("a mailbox with OAuth is checked with an access token, and a replaced refresh token is stored", async () => {
  const server = await startImapServer();
  const provider = await startTokenServer({ issue: (token) => server.tokens.add(token) });
  onTestFinished(async () => {
    await provider.close();
    await server.close();
  });
  server.offer({ mechanisms: ["XOAUTH2"] });
  provider.rotate(true);
  mkdirSync(join(home, ".service"));
  writeFileSync(join(home, "token"), "refresh-token-0", { mode: 0o600 });
  const oauth = { tokenUrl: provider.url, clientId: "client-1", refreshToken: { file: join(home, "token") } };
  const account = { host: "127.0.0.1", port: server.port, tls: false, user: "ada", oauth };
  const file = join(home, ".service", "config.jsonc");
  writeFileSync(file, JSON.stringify({ hooks: { imap: { accounts: { ada: account } } } }), { mode: 0o600 });
  const first = await imap("setup", "--json");
  expect([first.code, outcomes(first.out).filter((one) => one.endsWith(": failed"))]).toEqual([0, []]);
  const again = await imap("setup", "--json");
  expect([again.code, outcomes(again.out).filter((one) => !one.endsWith(": kept"))]).toEqual([0, []]);
  expect(provider.asked.map((form) => form.get("refresh_token"))).toEqual(["refresh-token-0", "refresh-token-0+"]);
  expect(JSON.parse(config()).hooks.imap.accounts.ada).toEqual(account);
  for (const { out, err } of [first, again]) expect(out + err).not.toMatch(/(?:refresh|access)-token-\d/);
  provider.grant("another-refresh-token");
  const ended = await imap("setup", "--json");
  expect(ended.code).toBe(1);
  expect(JSON.parse(ended.out).steps.at(-1)).toMatchObject({
    step: "login",
    detail: expect.stringContaining("invalid_grant"),
  });
});

test("without --account, the name is the local part of the address; a mailbox is found by its user", async () => {
  const setup = (...more: readonly string[]) =>
    run(["webhooks", "imap", "setup", "--host", "127.0.0.1", "--password-env", "MAIL_PASSWORD", ...more, "--json"], {
      home,
      env: { MAIL_PASSWORD: "secret-of-ada" },
    });
  // Nothing listens there; the name is in the answer all the same.
  const named = async (user: string) => JSON.parse((await setup("--user", user, "--port", "1")).out).account;
  expect(await named("Ada.Lovelace+Mail@example.org")).toBe("ada-lovelace-mail");
  const server = await startImapServer();
  onTestFinished(() => server.close());
  const plain = ["--user", "ada", "--port", String(server.port), "--tls", "false"];
  expect((await setup(...plain)).code).toBe(0);
  expect(Object.keys(JSON.parse(config()).hooks.imap.accounts)).toEqual(["ada"]);
  expect(await setup("--user", "ada@example.org")).toMatchObject({
    code: 2,
    out: expect.stringContaining("another mailbox has the name ada"),
  });
  await run(["webhooks", "imap", "teardown", "--account", "ada"], { home });
  expect((await setup(...plain, "--account", "work")).code).toBe(0);
  const again = await setup(...plain);
  expect([JSON.parse(again.out).account, outcomes(again.out).filter((one) => !one.endsWith(": kept"))]).toEqual([
    "work",
    [],
  ]);
  expect(await setup()).toMatchObject({ code: 2, out: expect.stringContaining("--user is missing") });
});

test("a known provider needs no host and names its needs; Outlook refuses passwords, with a remedy", async () => {
  const gmail = await imap("setup", "--user", "ada@googlemail.com");
  expect(gmail).toMatchObject({ code: 2, err: expect.stringContaining("Google requires an app password") });
  const outlook = await imap("setup", "--user", "ada@hotmail.com", "--password-env", "MAIL_PASSWORD");
  expect(outlook).toMatchObject({ code: 1, out: expect.stringContaining("basic authentication for IMAP is off") });
  expect(await imap("setup", "--user", "ada@nowhere.example")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--host is missing"),
  });
  expect(await imap("setup", "--user", "ada@gmx.de", "--since", "yesterday")).toMatchObject({
    code: 2,
    err: expect.stringContaining("30m, 2h or 2d"),
  });
});

test.skipIf(!hasDovecot || !existsSync("/usr/bin/script"))(
  "a password typed at a terminal is stored in its own file, and the newest subject is shown",
  async () => {
    const typed = async (password: string, ...more: readonly string[]): Promise<string> => {
      const line = [process.execPath, bundled, "webhooks", "imap", "setup", "--account", "ada", ...more].join(" ");
      const child = spawn("script", ["-qec", line, "/dev/null"], {
        env: { PATH: process.env.PATH, HOME: home, NO_COLOR: "1", ...inherited },
      });
      let shown = "";
      let isAnswered = false;
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        shown += text;
        if (isAnswered || !shown.includes("(it is not shown): ")) return;
        isAnswered = true;
        child.stdin.write(`${password}\r`);
      });
      await new Promise((resolve) => child.on("close", resolve));
      return shown;
    };
    const shown = await typed(server.password(), ...mailboxOptions());
    expect(shown).toContain("The quarterly figures");
    expect(shown).not.toContain(server.password());
    const file = join(home, ".service", "secrets", "mail", "imap-ada");
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual([`${server.password()}\n`, 0o600]);
    expect(JSON.parse(config()).hooks.imap.accounts.ada.password).toEqual({ file });
    const before = server.password();
    server.password("another-secret");
    // Dovecot looks at its file of passwords once a second.
    await sleep(1_100);
    expect(await typed("another-secret", "--new-password")).toMatch(
      /done +password +The password is in .*, which only you can read\./,
    );
    server.password(before);
    expect(readFileSync(file, "utf8")).toBe("another-secret\n");
    expect((await imap("teardown")).out).toMatch(/^done +password +.* is removed\.$/m);
    expect(existsSync(file)).toBe(false);
  },
);
