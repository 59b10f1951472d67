/** What a mail server may do wrong, on a scripted one: mail comes late at most, and never twice. */
import { describe, expect, vi } from "vitest";
import { startImapServer } from "../../support/mail/imap-server.ts";
import type { Fault } from "../../support/mail/imap-session.ts";
import type { MailServer } from "../../support/mail/mail-server.ts";
import { createReader, letter, type Reader, testWithReader } from "../../support/mail/reader.ts";

const test = testWithReader(startImapServer);

/** The shortest poll, and the five seconds that a mail may take beyond it. */
const account = { pollSeconds: 5 };
const withinMs = 10_000;

async function readsWithin(
  { server, reader }: { readonly server: MailServer; readonly reader: Reader },
  subject: string,
  ms: number,
): Promise<void> {
  const begun = performance.now();
  const before = reader.seen.length;
  await server.deliver(letter(subject));
  await reader.arrived(before + 1, ms + 5_000);
  expect((reader.seen.at(-1)?.at ?? 0) - begun).toBeLessThan(ms);
}

describe("a mailbox on a faulty server", () => {
  test("is read at once when the server announces mail, over a single connection", async ({ server, reader }) => {
    await reader.start({ account });
    await readsWithin({ server, reader }, "Minutes", 2_000);
    expect(server.connections()).toEqual({ now: 1, most: 1, all: 1 });
  });

  // All others wait while this one does, which waits longest.
  test.concurrent("is read over a new connection if a command gets no response or a mail's length is wrong", async ({
    onTestFinished,
  }) => {
    const faults: readonly Fault[] = [
      { at: "UID SEARCH", kind: "hang" },
      { at: "UID FETCH", kind: "long-literal" },
    ];
    // Both waits at the same time.
    await Promise.all(
      faults.map(async (fault) => {
        const own = await startImapServer();
        const ownReader = createReader(() => own);
        onTestFinished(async () => {
          await ownReader.close();
          await own.close();
        });
        await ownReader.start({ account });
        own.fail(fault);
        await own.deliver(letter("Unanswered"));
        await ownReader.arrived(1, 60_000);
        await own.deliver(letter("Next"));
        await ownReader.arrived(2);
        expect(ownReader.subjects()).toEqual(["Unanswered", "Next"]);
        expect(own.connections()).toMatchObject({ now: 1, all: 2 });
      }),
    );
  }, 120_000);

  test.concurrent("is read by polling if the server never announces mail or lacks IDLE", async ({ server, reader }) => {
    server.rings(false);
    await reader.start({ account });
    await readsWithin({ server, reader }, "Unannounced", withinMs);
    server.offer({ idle: false });
    await server.kick();
    await readsWithin({ server, reader }, "Without IDLE", withinMs);
    expect(reader.subjects()).toEqual(["Unannounced", "Without IDLE"]);
  }, 40_000);

  test.concurrent("is read over a new connection if the open one is silently dead", async ({ server, reader }) => {
    await reader.start({ account });
    server.mute();
    await readsWithin({ server, reader }, "After silence", withinMs);
    expect(server.connections()).toMatchObject({ now: 1, all: 2 });
  }, 40_000);

  test.concurrent.for(["greeting", "CAPABILITY", "AUTHENTICATE", "EXAMINE", "UID SEARCH", "UID FETCH", "IDLE"])(
    "is read once if the server cuts the connection at %s",
    { timeout: 40_000 },
    async (at, { server, reader }) => {
      await reader.start({ account });
      server.fail({ at, kind: "cut" });
      await server.kick();
      await readsWithin({ server, reader }, "Once", withinMs);
      await readsWithin({ server, reader }, "Next", withinMs);
      expect(reader.subjects()).toEqual(["Once", "Next"]);
      expect(server.connections()).toMatchObject({ now: 1 });
    },
  );

  test.concurrent.for(["EXAMINE", "UID SEARCH", "UID FETCH"])(
    "is read once if the server temporarily refuses %s, which is not mistaken for an empty mailbox",
    { timeout: 40_000 },
    async (at, { server, reader }) => {
      await reader.start({ account });
      server.fail({ at, kind: "NO" }, { at, kind: "BAD" });
      await readsWithin({ server, reader }, "Refused", withinMs);
      await readsWithin({ server, reader }, "Next", withinMs);
      expect(reader.subjects()).toEqual(["Refused", "Next"]);
    },
  );

  test.concurrent("is read after endless lines from the server, which ended the connection for that reason", {
    timeout: 60_000,
  }, async ({ server, reader }) => {
    await reader.start({ account });
    server.fail({ at: "UID SEARCH", kind: "flood" });
    await server.deliver(letter("Once"));
    await reader.logged(
      /127\.0\.0\.1 sent more than 100,000 lines without a command that asks for them, and was disconnected/,
    );
    await reader.arrived(1);
    await readsWithin({ server, reader }, "Next", withinMs);
    expect(reader.subjects()).toEqual(["Once", "Next"]);
  });

  test.concurrent("is read once if the server lists a mail but briefly returns none of its content", {
    timeout: 40_000,
  }, async ({ server, reader }) => {
    await reader.start({ account });
    server.fail({ at: "UID FETCH", kind: "nothing" });
    await readsWithin({ server, reader }, "Late", withinMs);
    await readsWithin({ server, reader }, "Next", withinMs);
    expect(reader.subjects()).toEqual(["Late", "Next"]);
  });

  test.concurrent("is read even if the server sends 10,000 lines of junk between a command and its response", async ({
    server,
    reader,
  }) => {
    await reader.start({ account });
    server.fail({ at: "UID SEARCH", kind: "junk" });
    await readsWithin({ server, reader }, "Between", withinMs);
    await readsWithin({ server, reader }, "Next", withinMs);
    expect(reader.subjects()).toEqual(["Between", "Next"]);
  }, 40_000);

  test.concurrent("is read from its current end if the server does not report the next mail number", async ({
    server,
    reader,
  }) => {
    server.offer({ uidNext: false });
    await server.deliver(letter("Before"));
    await reader.start({ account });
    await readsWithin({ server, reader }, "New", withinMs);
    await server.kick();
    await readsWithin({ server, reader }, "Newer", withinMs);
    expect(reader.subjects()).toEqual(["New", "Newer"]);
  });

  test.concurrent("is read in an added folder from then on, even while mails of other folders wait", async ({
    server,
    reader,
  }) => {
    const one = { ...account, maxPerHour: 1 };
    await reader.start({ account: one });
    await readsWithin({ server, reader }, "First", withinMs);
    await server.deliver(letter("Waiting"));
    await reader.logged(/maxPerHour \(1\) was reached/);
    await server.deliver(letter("Old"), "Work");
    const searches = server.count("UID SEARCH");
    reader.edit({ account: { ...one, folders: ["INBOX", "Work"] } });
    await vi.waitFor(() => expect(server.count("UID SEARCH")).toBeGreaterThan(searches), 10_000);
    await reader.logged(/(?:[\s\S]*maxPerHour \(1\) was reached){2}/);
    await server.deliver(letter("Added"), "Work");
    reader.edit({ account: { ...account, folders: ["INBOX", "Work"] } });
    await reader.arrived(3);
    expect(reader.subjects()).toEqual(["First", "Waiting", "Added"]);
  }, 40_000);

  test.concurrent("is read except for a missing folder, which is reported until it exists", {
    timeout: 40_000,
  }, async ({ server, reader }) => {
    const { gateway } = await reader.start({ account: { ...account, folders: ["Wrok", "INBOX"] }, watched: false });
    await reader.logged(/a mailbox needs attention: 127\.0\.0\.1 has no folder \\"Wrok\\"/);
    await readsWithin({ server, reader }, "Meanwhile", withinMs);
    expect((await gateway.describe()).watched).toMatchObject({
      mail: [{ state: "needs_setup", fix: expect.stringMatching(/^Correct folders/) }],
    });
    await server.renew("Wrok", [letter("Filed")]);
    await reader.logged(/the mailbox is watched/);
    await server.deliver(letter("There"), "Wrok");
    await reader.arrived(3);
    expect(reader.subjects()).toEqual(["Meanwhile", "Filed", "There"]);
  });
});
