/** `service webhooks imap run` and `status`, beside a real gateway and without one, each in a process of its own. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { scopedStore } from "../../../core/host/scope.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { createLease, isHeld } from "../../../plugins/mail/lease.ts";
import { start, temporaryHome } from "../../core/cli/command.ts";
import { run } from "../../core/cli/command-runner.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";
import { type ScriptedServer, startImapServer } from "../../support/mail/imap-server.ts";
import { startWebhook } from "../../support/mail/webhook.ts";

let server: ScriptedServer;
let home: string;

beforeEach(async () => {
  server = await startImapServer();
  home = temporaryHome();
  mkdirSync(join(home, ".service"));
  writeFileSync(join(home, "password"), server.password(), { mode: 0o600 });
  writeFileSync(join(home, ".service", "config.jsonc"), '{ "gateway": { "port": 0 } }\n', { mode: 0o600 });
});

afterEach(async () => {
  await server.close();
});

const letter = (subject: string, date = "Mon, 23 Nov 2026 10:00:00 +0000") =>
  `From: grace@example.org\nTo: ada@example.net\nSubject: ${subject}\nMessage-ID: ` +
  `<${subject}@example.org>\nDate: ${date}\n\nDear agent, ${subject}.\n`;
const imap = (command: string, ...more: readonly string[]) =>
  run(["webhooks", "imap", command, "--account", "ada", ...more], { home });
const setup = (...more: readonly string[]) =>
  imap(
    "setup",
    ...["--user", "ada", "--host", "127.0.0.1", "--tls", "false", "--port", String(server.port)],
    ...["--password-file", join(home, "password")],
    ...more,
  );
const mailbox = async () =>
  (JSON.parse((await imap("status", "--json")).out) as { readonly mailboxes: readonly Record<string, unknown>[] })
    .mailboxes[0];

async function startGateway() {
  const gateway = start(["gateway"], { home });
  await gateway.until(/ready at /);
  return gateway;
}

test("run passes each mail on by HTTP with its key and the hook token, and a second start repeats none", async () => {
  await setup();
  const { url, calls } = await startWebhook("/in/imap");
  const first = start(["webhooks", "imap", "run", "--account", "ada", "--url", url], { home });
  await first.until(/the mailbox is watched/);
  await server.deliver(letter("Minutes"));
  await vi.waitFor(() => expect(calls).toHaveLength(1), { timeout: 60_000, interval: 20 });
  expect(calls[0]).toMatchObject({
    url: "/in/imap",
    headers: {
      authorization: `Bearer ${readFileSync(join(home, ".service", "hook-token"), "utf8").trim()}`,
      "idempotency-key": expect.stringMatching(/^mail:imap:ada:ada:INBOX:/),
    },
  });
  expect(JSON.parse(calls[0]?.body ?? "")).toMatchObject({
    source: "imap",
    account: "ada",
    messages: [{ subject: "Minutes" }],
  });
  first.child.kill("SIGTERM");
  const { code, out, err } = await first.finished;
  expect(code).toBe(0);
  expect(out + err).not.toContain("Minutes");
  const second = start(["webhooks", "imap", "run", "--account", "ada", "--url", url], { home });
  await second.until(/the mailbox is watched/);
  await server.deliver(letter("Next"));
  await vi.waitFor(() => expect(calls).toHaveLength(2), { timeout: 60_000, interval: 20 });
  expect(JSON.parse(calls[1]?.body ?? "").messages[0].subject).toBe("Next");
  const third = await imap("run", "--url", url);
  expect(third).toMatchObject({
    code: 1,
    out: expect.stringContaining("`webhooks imap run` reads this mailbox (process "),
  });
});

test("a running gateway adopts a new mailbox, reads back as far as --since sets, and locks out run", async () => {
  const gateway = await startGateway();
  server.deliverAll([letter("Old")], { at: new Date(Date.now() - 3 * 86_400_000) });
  server.deliverAll([letter("Recent")], { at: new Date(Date.now() - 3_600_000) });
  expect((await setup("--since", "1d")).out).toContain("starts to read the mailbox within seconds");
  await vi.waitFor(async () => expect(await mailbox()).toMatchObject({ state: "ok", lastMail: expect.any(Number) }), {
    timeout: 60_000,
    interval: 200,
  });
  expect((await imap("status")).out).toMatch(/ok +(?:just now|\d+ s ago) +(?:just now|\d+ s ago)\s*$/m);
  const deliveries = (await run(["hooks", "deliveries", "--json"], { home })).out;
  expect(JSON.parse(deliveries)).toMatchObject({ deliveries: [expect.objectContaining({ hook: "imap" })] });
  expect(await imap("run")).toMatchObject({ code: 1, out: expect.stringContaining("A gateway (process ") });
  expect((await imap("teardown")).code).toBe(0);
  expect(await imap("status", "--json")).toMatchObject({ code: 1 });
  gateway.child.kill("SIGTERM");
  await gateway.finished;
});

test("run works for a mailbox that the gateway does not watch, and passes its mail to that gateway", async () => {
  await setup();
  await run(["config", "set", "hooks.imap.accounts.ada.enabled", "false"], { home });
  await startGateway();
  expect(await mailbox()).toMatchObject({ enabled: false, state: null });
  const watching = start(["webhooks", "imap", "run", "--account", "ada"], { home });
  await watching.until(/the mailbox is watched/);
  await server.deliver(letter("Minutes"));
  await vi.waitFor(
    async () => expect((await run(["hooks", "deliveries", "--json"], { home })).out).toContain('"hook": "imap"'),
    {
      timeout: 60_000,
      interval: 200,
    },
  );
});

test("without a gateway, status shows the configuration and run reports what is missing", async () => {
  await setup();
  expect((await imap("status")).out).toMatch(/ada +ada at 127\.0\.0\.1 +configured\n.*No gateway is running/);
  expect(await mailbox()).toMatchObject({ account: "ada", state: null });
  expect(await imap("run")).toMatchObject({ code: 1, out: expect.stringContaining("No gateway is running") });
  expect((await run(["webhooks", "imap", "run", "--account", "eva"], { home })).code).toBe(1);
});

test("the lease of a killed process ends after 30 s; a new gateway takes over a dead one's at once", async () => {
  const directory = temporaryDirectory();
  let time = 1_000_000;
  const now = () => time;
  const store = await openSqliteStore({ directory, now });
  onTestFinished(async () => {
    await store.close();
    removeDirectory(directory);
  });
  let ids = 0;
  const host = { store: scopedStore(store, "plugin:mail", now), newId: () => String(++ids) };
  const mailboxName = { source: "imap", account: "ada" };
  await createLease(host, mailboxName, "run").hold();
  const gateway = createLease(host, mailboxName, "gateway");
  await expect(gateway.hold()).rejects.toThrow("`webhooks imap run` reads this mailbox (process ");
  time += 30_001;
  expect(await isHeld(host, mailboxName)).toBe(false);
  await gateway.hold();
  await expect(createLease(host, mailboxName, "run").hold()).rejects.toThrow("A gateway (process ");
  const next = createLease(host, mailboxName, "gateway");
  await next.hold();
  await gateway.release();
  expect(await isHeld(host, mailboxName)).toBe(true);
  await next.release();
  expect(await isHeld(host, mailboxName)).toBe(false);
});
