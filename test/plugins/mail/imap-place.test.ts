/** Where reading of a mailbox continues after an edit of its configuration. */
import { expect, onTestFinished, test } from "vitest";
import { placesIn } from "../../../plugins/mail/imap/place.ts";
import { createImapSource } from "../../../plugins/mail/imap/source.ts";
import type { ImapSettings } from "../../../plugins/mail/settings.ts";
import type { Cursor } from "../../../plugins/mail/source.ts";
import { startImapServer } from "../../support/mail/imap-server.ts";
import { letter } from "../../support/mail/reader.ts";

const now = Date.parse("2026-11-23T12:00:00Z");
const dayMs = 86_400_000;
const read = { lastMail: now, lastSync: now };

async function mailbox() {
  const server = await startImapServer();
  onTestFinished(() => server.close());
  const login = {
    id: () => "",
    with: <T>(connect: (credentials: { pass: string }) => Promise<T>) => connect({ pass: server.password() }),
  };
  const open = (settings: Partial<ImapSettings> = {}) => {
    const all = {
      host: "127.0.0.1",
      port: server.port,
      tls: false,
      user: server.user,
      folders: ["INBOX"],
      maxBytes: 1_000,
      ...settings,
    };
    const source = createImapSource("ada", all as ImapSettings, { login, read: () => "" });
    onTestFinished(() => source.close());
    return source;
  };
  return { server, open };
}

test("another user means another mailbox: reading starts now, with no earlier ids", async () => {
  const first = await mailbox();
  for (const subject of ["One", "Two", "Three"]) await first.server.deliver(letter(subject));
  const { next } = await first.open().changesSince(await first.open().baseline(), read);
  // Servers ignore the case of a user's name.
  expect(placesIn(next, "ADA").of("INBOX")).toEqual({ validity: "1001", uid: 3 });
  await first.server.deliver(letter("Four"));
  const before = await first.open().changesSince(next, read);
  expect(before.found.map(({ id }) => id)).toEqual(["ada:INBOX:1001:4"]);

  // The same UIDVALIDITY, and fewer mails.
  const second = await mailbox();
  await second.server.deliver(letter("Old"));
  const stored = { ...before.next, "": { digest: "that of another user", changes: 0 } } as Cursor;
  const begun = await second.open().changesSince(stored, read);
  expect(begun.found).toEqual([]);
  for (const subject of ["A", "B", "C"]) await second.server.deliver(letter(subject));
  const cursor = { ...stored, ...begun.begun };
  const { found } = await second.open().changesSince(cursor, read);
  expect(found.map(({ id }) => id)).toEqual(["ada:INBOX:1001.1:2", "ada:INBOX:1001.1:3", "ada:INBOX:1001.1:4"]);
  expect(await second.open().fetch(found[0]?.id ?? "", "whole")).toMatchObject({ subject: "A" });
});

test("a folder that is removed and added again starts with new mail", async () => {
  const { server, open } = await mailbox();
  await server.deliver(letter("Before"), "Work");
  const both = { folders: ["INBOX", "Work"] };
  const { next } = await open().changesSince(await open(both).baseline(), read);
  await server.deliver(letter("Months ago"), "Work");
  const again = await open(both).changesSince(next, read);
  expect(again.found).toEqual([]);
  await server.deliver(letter("New"), "Work");
  expect((await open(both).changesSince({ ...next, ...again.begun }, read)).found).toHaveLength(1);
});

test("mails that wait while the server renumbers them are found, however old they are", async () => {
  const { server, open } = await mailbox();
  const stored = { INBOX: { validity: "1", uid: 7 } };
  server.deliverAll([letter("Waiting")], { at: new Date(now - 3 * dayMs) });
  const { found } = await open().changesSince(stored, { lastMail: now, lastSync: now - 4 * dayMs });
  expect(found).toMatchObject([{ renumbered: true }]);
});
