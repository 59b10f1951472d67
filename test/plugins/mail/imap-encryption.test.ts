/** Which servers a password is sent to: never one without encryption, never one whose certificate is not trusted. */
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { makeCertificate } from "../../support/mail/certificate.ts";
import { type ScriptedServer, startImapServer } from "../../support/mail/imap-server.ts";
import { createReader, letter } from "../../support/mail/reader.ts";

const own = makeCertificate();
const other = makeCertificate();
const nameless = makeCertificate({ names: "DNS:mail.example.org" });
let server: ScriptedServer;
const reader = createReader(() => server);

afterEach(async () => {
  await reader.close();
  await server.close();
});

afterAll(() => {
  for (const certificate of [own, other, nameless]) certificate.remove();
});

async function startTls(certificate = own): Promise<void> {
  server = await startImapServer({ tls: certificate, secure: true });
}

async function startStartTls({ offered = true, certificate = own } = {}): Promise<void> {
  server = await startImapServer({ tls: certificate });
  server.offer({ startTls: offered });
}

async function isRead(tls: unknown): Promise<void> {
  await reader.start({ account: { tls } });
  await server.deliver(letter("Secret"));
  await reader.arrived(1);
}

/** Nothing that only a trusted server may know has gone over the wire. */
async function isRefused(tls: unknown, why: RegExp): Promise<void> {
  await reader.start({ account: { tls }, watched: false });
  await reader.logged(why);
  expect(server.count("AUTHENTICATE") + server.count("LOGIN")).toBe(0);
}

const colonless = (fingerprint: string) => fingerprint.replaceAll(":", "").toLowerCase();

describe("a mail server with its own certificate", () => {
  test("is accepted if caFile names the certificate, with TLS from the start and with STARTTLS", async () => {
    await startTls();
    await isRead({ caFile: own.file });
    await reader.close();
    await server.close();
    await startStartTls();
    await isRead({ mode: "starttls", caFile: own.file });
    expect(server.count("STARTTLS")).toBe(1);
  });

  test("is accepted under any name if its fingerprint is pinned, with TLS from the start and STARTTLS", async () => {
    await startTls(nameless);
    await isRead({ fingerprint256: nameless.fingerprint256 });
    await reader.close();
    await server.close();
    await startStartTls({ certificate: nameless });
    await isRead({ mode: "starttls", fingerprint256: colonless(nameless.fingerprint256) });
  });

  test.each([
    ["nothing names its certificate", true, /certificate of 127\.0\.0\.1 cannot be trusted/],
    ["caFile names another one", { caFile: other.file }, /certificate of 127\.0\.0\.1 cannot be trusted/],
    [
      "another fingerprint is pinned",
      { fingerprint256: other.fingerprint256 },
      /does not match tls\.fingerprint256: [0-9A-F]{2}:/,
    ],
  ] as const)("is refused when %s", async (_, tls, why) => {
    await startTls();
    await isRefused(tls, why);
  });

  test("that speaks plain text where TLS is expected is not said to have a bad certificate", async () => {
    await startStartTls({ offered: false });
    await isRefused(true, /127\.0\.0\.1 does not speak TLS on this port/);
  });

  test("is refused if its name differs, even if caFile names the certificate", async () => {
    await startTls(nameless);
    await isRefused({ caFile: nameless.file }, /certificate of 127\.0\.0\.1 cannot be trusted/);
  });

  test.each([
    ["nothing names its certificate", "starttls", /certificate of 127\.0\.0\.1 cannot be trusted/],
    [
      "another fingerprint is pinned",
      { mode: "starttls", fingerprint256: other.fingerprint256 },
      /does not match tls\.fingerprint256/,
    ],
  ] as const)("is refused with STARTTLS when %s", async (_, tls, why) => {
    await startStartTls();
    await isRefused(tls, why);
  });

  test.each(["starttls", { mode: "starttls", fingerprint256: own.fingerprint256 }] as const)(
    "is refused, rather than read in plain text, if it does not offer STARTTLS (%j)",
    async (tls) => {
      await startStartTls({ offered: false });
      await isRefused(tls, /offers no encryption by STARTTLS/);
      await reader.logged(/needs_setup/);
    },
  );

  test("is refused if caFile cannot be read, with a reason that names the setting", async () => {
    await startTls();
    await isRefused({ caFile: "/nowhere/ca.pem" }, /hooks\.imap\.accounts\.ada\.tls\.caFile/);
  });
});

test("a remote server is refused if tls is false", async () => {
  server = await startImapServer();
  await reader.start({ account: { tls: false, host: "localhost.example" }, watched: false });
  await reader.logged(/would send the password to localhost\.example unprotected/);
  expect(server.connections().all).toBe(0);
});
