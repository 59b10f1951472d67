import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, vi } from "vitest";
import { temporaryDirectory } from "../../support/directory.ts";
import { test } from "./gmail-room.ts";

const hours = 3_600_000;

describe.concurrent("a watched Gmail mailbox", () => {
  test("runs the agent on a notice and ignores earlier mail", async ({ room, google, mailbox }) => {
    mailbox.deliver({ subject: "Old news" });
    await room.start();
    const id = mailbox.deliver({ subject: "Minutes", body: "As agreed on Monday, we'll meet." });
    // The mailbox is polled every five minutes only.
    await room.arrived(1);
    await room.looked();
    expect(room.subjects()).toEqual(["Minutes"]);
    expect(room.seen[0]?.session).toContain(`hook:gmail:${id}`);
    expect(room.seen[0]?.text).toMatch(/^The sender of this mail is not verified/);
    expect(room.seen[0]?.text).toContain("As agreed on Monday, we'll meet.");
    await vi.waitFor(() => expect(google.pubsub.acknowledged.length).toBeGreaterThan(0), 60_000);
  });

  test("polls without notices and makes only read requests", async ({ room, google, mailbox }) => {
    await room.start({ mode: "poll", topic: undefined, subscription: undefined, pollSeconds: 5 });
    mailbox.deliver({ subject: "Minutes" });
    await room.arrived(1);
    expect(google.calls.filter(({ method, path }) => method !== "GET" && path !== "/token")).toEqual([]);
  }, 20_000);

  test("reads each of 150 mails in a burst once, from a shuffled, paged history with late records", async ({
    room,
    google,
    mailbox,
  }) => {
    Object.assign(mailbox.faults, { isShuffled: true, pageSize: 20 });
    google.pubsub.faults.isDoubled = true;
    await room.start();
    for (let at = 0; at < 150; at += 1) mailbox.deliver({ subject: `mail-${at}`, late: at % 4 });
    await vi.waitFor(() => expect(new Set(room.subjects()).size).toBe(150), { timeout: 60_000, interval: 50 });
    await room.looked();
    expect(room.seen).toHaveLength(150);
  }, 60_000);

  test("checks again after a notice whose record is not listed yet", async ({ room, mailbox }) => {
    await room.start();
    mailbox.deliver({ subject: "Late", late: 1 });
    await room.arrived(1);
    expect(room.subjects()).toEqual(["Late"]);
  }, 20_000);

  test("finds a record that is listed behind a newer one, even after hours without a gateway", async ({
    room,
    mailbox,
  }) => {
    const { directory } = await room.start();
    mailbox.deliver({ subject: "Hidden", late: 1_000 });
    mailbox.deliver({ subject: "Newer" });
    await room.arrived(1);
    await room.looked();
    await room.gateway().gateway.close();
    mailbox.reveal();
    await room.start({}, { directory, now: () => Date.now() + 2 * hours });
    await room.arrived(2);
    expect(room.subjects()).toEqual(["Newer", "Hidden"]);
  }, 20_000);

  test("catches up after two days, once for each mail, even if the history is gone", async ({ room, mailbox }) => {
    const { directory } = await room.start();
    mailbox.deliver({ subject: "One" });
    await room.arrived(1);
    await room.gateway().gateway.close();
    const later = (ms: number) => Date.now() + ms;
    mailbox.deliver({ subject: "Two", at: later(hours) });
    await room.start({}, { directory, now: () => later(48 * hours) });
    await room.arrived(2);
    await room.gateway().gateway.close();
    mailbox.deliver({ subject: "Three", at: later(50 * hours) });
    mailbox.deliver({ subject: "Four", at: later(60 * hours) });
    mailbox.forget();
    await room.start({}, { directory, now: () => later(96 * hours) });
    await room.arrived(4);
    mailbox.deliver({ subject: "Five", at: later(96 * hours) });
    await room.arrived(5);
    await room.looked();
    expect(room.subjects()).toEqual(["One", "Two", "Three", "Four", "Five"]);
  }, 30_000);

  test("skips no mail that maxPerHour delays while the history expires", async ({ room, mailbox }) => {
    let ahead = 0;
    const now = () => Date.now() + ahead;
    const { directory } = await room.start({ maxPerHour: 2, maxCatchUp: 1 }, { now });
    for (const subject of ["One", "Two", "Three", "Four"]) mailbox.deliver({ subject });
    await room.arrived(2);
    await room.state("paused");
    await room.gateway().gateway.close();
    mailbox.forget();
    ahead = 1.5 * hours;
    await room.start({ maxPerHour: 20, maxCatchUp: 1 }, { directory, now });
    await room.arrived(4);
    expect(room.subjects().sort()).toEqual(["Four", "One", "Three", "Two"]);
  }, 20_000);

  test("runs only the newest mails after a long absence and records the number of skipped ones", async ({
    room,
    mailbox,
  }) => {
    const { directory } = await room.start();
    await room.gateway().gateway.close();
    for (const subject of ["One", "Two", "Three"]) mailbox.deliver({ subject });
    await room.start({ maxCatchUp: 1 }, { directory, now: () => Date.now() + 5 * hours });
    await room.arrived(1);
    await room.looked();
    await room.looked();
    expect(room.subjects()).toEqual(["Three"]);
  }, 20_000);

  test("skips sent mail, drafts, spam and trash, and runs a mail that gets the label later", async ({
    room,
    mailbox,
  }) => {
    await room.start();
    mailbox.deliver({ subject: "Sent", labels: ["SENT"] });
    mailbox.deliver({ subject: "To myself", labels: ["SENT", "INBOX"] });
    mailbox.deliver({ subject: "Draft", labels: ["DRAFT", "INBOX"] });
    const spam = mailbox.deliver({ subject: "Spam", labels: ["SPAM"] });
    mailbox.deliver({ subject: "Trash", labels: ["TRASH", "INBOX"] });
    const archived = mailbox.deliver({ subject: "Archived", labels: ["UNREAD"] });
    await room.looked();
    expect(room.subjects()).toEqual([]);
    mailbox.addLabel(archived, "INBOX");
    mailbox.addLabel(spam, "INBOX", { without: ["SPAM"] });
    await room.arrived(2);
    expect(room.subjects().sort()).toEqual(["Archived", "Spam"]);
  });

  test("can watch another label by name, and runs own mail with includeOwn", async ({ room, google, mailbox }) => {
    await room.start({ label: "orders" });
    mailbox.deliver({ subject: "Elsewhere" });
    mailbox.deliver({ subject: "Order", labels: ["Label_7"] });
    await room.arrived(1);
    expect(room.subjects()).toEqual(["Order"]);
    room.edit({ includeOwn: true });
    await vi.waitFor(() => expect(google.callsOf(/\/profile$/)).toBeGreaterThan(1), { timeout: 60_000 });
    await room.state("ok");
    mailbox.deliver({ subject: "To myself", labels: ["SENT", "INBOX"] });
    await room.arrived(2);
    expect(room.subjects().at(-1)).toBe("To myself");
  }, 20_000);

  test("continues when mails are deleted before they are read", async ({ room, google, mailbox }) => {
    await room.start();
    google.faults.isMute = true;
    const gone = mailbox.deliver({ subject: "Gone" });
    mailbox.remove(gone);
    google.faults.isMute = false;
    mailbox.deliver({ subject: "Here" });
    await room.arrived(1);
    await room.looked();
    expect(room.subjects()).toEqual(["Here"]);
    expect(google.callsOf(new RegExp(`messages/${gone}$`))).toBe(1);
  });

  test("reads the header of a mail with too many parts, without delaying the next one", async ({ room, mailbox }) => {
    await room.start();
    const parts = Array.from({ length: 80_000 }, () => ({
      mimeType: "text/x-nothing",
      filename: "",
      headers: [],
      body: { size: 0 },
    }));
    mailbox.deliver({ subject: "Wide", payload: { mimeType: "multipart/mixed", parts } });
    mailbox.deliver({ subject: "Next", body: "Dear agent" });
    await room.arrived(2);
    expect(room.subjects()).toEqual(["Wide", "Next"]);
  }, 30_000);

  test("fetches a text that the mail only references, but no attachment", async ({ room, google, mailbox }) => {
    await room.start();
    const named = (attachmentId: string, size: number) => ({ body: { attachmentId, size } });
    const id = mailbox.deliver({
      subject: "Long",
      payload: {
        mimeType: "multipart/mixed",
        parts: [
          { mimeType: "text/plain", filename: "", ...named("text", 11) },
          { mimeType: "application/pdf", filename: "minutes.pdf", ...named("pdf", 4) },
        ],
      },
      parts: { text: Buffer.from("From afar ✓"), pdf: Buffer.from("%PDF") },
    });
    await room.arrived(1);
    expect(room.seen[0]?.text).toContain("From afar ✓");
    const fetched = google.calls.filter(({ path }) => path.includes(`${id}/attachments`));
    expect(fetched.map(({ path }) => path.split("/").at(-1))).toEqual(["text"]);
  });
});

describe.concurrent("Gmail mailboxes under accounts", () => {
  test("are named in the status, and their payload contains the mail address", async ({ room, google, mailbox }) => {
    const { credentials, refreshToken, apiRoot, pubsubRoot, mode, topic, subscription } = room.configOf().hooks.gmail;
    const work = { account: google.address, credentials, refreshToken, apiRoot, pubsubRoot, mode, topic, subscription };
    const mappings = [
      { match: { path: "gmail" }, messageTemplate: "Subject: {{ messages[0].subject }} for {{ account }}" },
    ];
    await room.start({ account: undefined, credentials: undefined, accounts: { work } }, { hooks: { mappings } });
    expect(await room.status()).toMatchObject({ source: "gmail", account: "work" });
    mailbox.deliver({ subject: "Minutes" });
    await room.arrived(1);
    expect(room.subjects()).toEqual(["Minutes for ada@example.net"]);
  });
});

describe.concurrent("a mapping written for the payload of another watcher", () => {
  test("runs unchanged, with a transform that iterates over its messages", async ({ room, mailbox }) => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "transforms"));
    const code = `export default ({ payload }) => {
      const lines = payload.messages.map((m) => [m.threadId, m.from, m.to, m.subject, m.date, m.snippet, m.body, m.bodyTruncated, m.labels].join("|"));
      return { message: ["Subject: " + payload.messages[0].subject, payload.source, payload.account, typeof payload.historyId, ...lines].join("\\n") };
    };`;
    writeFileSync(join(directory, "transforms", "gmail.mjs"), code);
    const mapping = {
      match: { path: "gmail", source: "gmail" },
      action: "agent",
      wakeMode: "now",
      name: "Gmail",
      sessionKey: "hook:gmail:{{messages[0].id}}",
      messageTemplate: "{{messages[0].subject}}",
      deliver: true,
      channel: "last",
      transform: { module: "gmail.mjs" },
    };
    await room.start({}, { directory, hooks: { mappings: [mapping] } });
    const at = Date.parse("2026-11-23T10:00:00Z");
    const id = mailbox.deliver({ subject: "Minutes", body: "As agreed", at });
    await room.arrived(1);
    const [run] = room.seen;
    expect(run?.session).toContain(`hook:gmail:${id}`);
    expect(run?.text).toContain("gmail\nada@example.net\nstring\n");
    const fields = [
      `t${id}`,
      "Grace Hopper <grace@example.org>",
      "ada@example.net",
      "Minutes",
      "2026-11-23T10:00:00.000Z",
    ];
    expect(run?.text).toContain([...fields, "As agreed", "As agreed", "false", "INBOX,UNREAD"].join("|"));
  });
});
