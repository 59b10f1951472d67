import { describe, expect, test } from "vitest";
import { decodeWords, readAddresses } from "../../../plugins/mail/gmail/addresses.ts";
import { candidatesIn, type Place, placeAfter } from "../../../plugins/mail/gmail/history.ts";
import { readMessage } from "../../../plugins/mail/gmail/message.ts";
import { payloadOf } from "../../../plugins/mail/payload.ts";
import { judgeSender } from "../../../plugins/mail/sender.ts";

const encode = (text: string | Buffer) => Buffer.from(text).toString("base64url");
const part = (mimeType: string, data: string | Buffer, more: object = {}) => ({
  mimeType,
  filename: "",
  body: { data: encode(data) },
  ...more,
});
const read = (payload: object, parts: Readonly<Record<string, string | Buffer>> = {}, maxBytes = 1_000) =>
  readMessage(
    { id: "1", labelIds: ["INBOX"], payload },
    { maxBytes, fetchPart: async (id) => encode(parts[id] ?? "") },
  );
const charset = (name: string) => ({ headers: [{ name: "Content-Type", value: `text/plain; charset="${name}"` }] });

describe("the text of a Gmail API mail", () => {
  test("is the first plain part; other parts are named but not fetched", async () => {
    const attachment = {
      mimeType: "application/pdf",
      filename: "minutes\u202e.pdf",
      body: { size: 5_000_000, attachmentId: "big" },
    };
    const alternatives = {
      mimeType: "multipart/alternative",
      parts: [part("text/html", "<p>Hello</p>"), part("text/plain", "Hello")],
    };
    const attached = part("text/plain", "not the text", { filename: "notes.txt" });
    const mail = await read({ mimeType: "multipart/mixed", parts: [attached, alternatives, attachment] });
    expect(mail.text).toEqual({ value: "Hello", cut: false });
    expect(mail.attachments).toEqual([
      { name: "notes.txt", type: "text/plain", size: 0 },
      { name: "minutes.pdf", type: "application/pdf", size: 5_000_000 },
    ]);
  });

  test("is the HTML part if the plain one has no words, and absent if neither has", async () => {
    const both = (plain: string, html: string) =>
      read({ mimeType: "multipart/alternative", parts: [part("text/plain", plain), part("text/html", html)] });
    expect((await both(" \r\n\u200b", "<p>1,204.50 euros</p>")).text?.value).toBe("1,204.50 euros");
    expect((await both(" ", '<img src="x.png">')).text).toBeUndefined();
    expect((await both("Words", "<p>HTML</p>")).text?.value).toBe("Words");
  });

  test("is followed by forwarded messages, calendar entries and hidden text", async () => {
    const header = (name: string, value: string) => ({ name, value });
    const inner = part("text/plain", "We agreed.", {
      headers: [
        header("From", "Ada <ada@example.org>"),
        header("Subject", "=?utf-8?q?M=C3=A4rz?="),
        header("Date", "Mon, 23 Nov 2026"),
      ],
    });
    const calendar =
      "BEGIN:VCALENDAR\nMETHOD:CANCEL\nBEGIN:VEVENT\nSUMMARY:Talk\nDTSTART:20261127T090000Z\nEND:VEVENT\nEND:VCALENDAR";
    const mail = await read({
      mimeType: "multipart/mixed",
      parts: [
        part("text/html", '<p>Hello</p><p style="opacity:0">Obey</p>'),
        { mimeType: "message/rfc822", filename: "old.eml", body: { size: 90 }, parts: [inner] },
        part("text/calendar", calendar),
      ],
    });
    expect(mail).toMatchObject({
      text: { value: "Hello", hidden: { characters: 4, isPreview: false } },
      forwarded: [
        {
          from: "Ada <ada@example.org>",
          subject: "März",
          date: "Mon, 23 Nov 2026",
          body: "We agreed.",
          bodyTruncated: false,
        },
      ],
      calendar: [
        { method: "cancel", summary: "Talk", start: "2026-11-27 09:00 UTC", end: "", location: "", repeats: false },
      ],
      attachments: [{ name: "old.eml" }],
    });
    const whole = { ...mail, snippet: "Hello Obey" };
    const verdict = { result: "none" } as const;
    const { messages } = payloadOf(whole, { source: "gmail", account: "ada", verdict, maxBytes: 1_000 }) as {
      readonly messages: readonly {
        readonly snippet: string;
        readonly snippetInBody: boolean;
        readonly notes: string;
      }[];
    };
    expect(messages[0]).toMatchObject({ snippet: "Hello", snippetInBody: true });
    expect(messages[0]?.notes).toMatch(
      /^\n\n\[calendar cancellation: "Talk", 2026-11-27 09:00 UTC\]\n\[attached file, not read: "old\.eml"/,
    );
  });

  test.each([
    ["smime-type=signed-data", { encrypted: false, signed: true }],
    ['SMIME-Type="Enveloped-Data"', { encrypted: true, signed: false }],
    ["name=smime.p7m", { encrypted: true, signed: false }],
  ])("is unreadable in a mail whose type has %s, and the payload says why", async (parameter, says) => {
    const headers = [{ name: "Content-Type", value: `application/pkcs7-mime;\r\n ${parameter}` }];
    const mail = await read({ mimeType: "application/pkcs7-mime", filename: "smime.p7m", body: { size: 90 }, headers });
    expect(
      payloadOf(mail, { source: "gmail", account: "ada", verdict: { result: "none" }, maxBytes: 1_000 }),
    ).toMatchObject({
      messages: [{ body: "", ...says }],
    });
  });

  test("is the HTML part if no plain part exists", async () => {
    expect((await read(part("text/html", "<p>Hello</p>"))).text).toEqual({ value: "Hello", cut: false });
  });

  test("is fetched if the tree contains only a reference, unless it is too long", async () => {
    const named = (size: number) => ({ mimeType: "text/plain", filename: "", body: { size, attachmentId: "text" } });
    expect((await read(named(9), { text: "From afar" })).text?.value).toBe("From afar");
    expect(await read(named(50_000_000))).toMatchObject({ bodyError: "the text of the mail is too long" });
  });

  test.each<[name: string, bytes: Buffer, declared: string, text: string]>([
    ["UTF-8 whatever is declared", Buffer.from("café"), "iso-8859-1", "café"],
    ["the declared charset where it is not UTF-8", Buffer.from("caf\xe9", "latin1"), "windows-1252", "café"],
    ["windows-1252 where the declared charset does not exist", Buffer.from("caf\xe9", "latin1"), "x-nothing", "café"],
  ])("is read as %s", async (_, bytes, declared, text) => {
    expect((await read(part("text/plain", bytes, charset(declared)))).text?.value).toBe(text);
  });

  test("is truncated without mistaking a split character for a wrong charset", async () => {
    const { text } = await read(part("text/plain", "é".repeat(5_000)), {}, 100);
    expect(text).toMatchObject({ cut: true, value: expect.stringMatching(/^é{100,101}$/) });
  });

  test("is found quickly in a mail with thousands of nested or parallel parts", async () => {
    let deep: object = part("text/plain", "at the bottom");
    for (let at = 0; at < 20_000; at += 1) deep = { mimeType: "multipart/mixed", parts: [deep] };
    expect((await read(deep)).attachments).toEqual([]);
    const wide = {
      mimeType: "multipart/mixed",
      parts: Array.from({ length: 100_000 }, () => part("text/x-nothing", "")),
    };
    const began = performance.now();
    expect((await read(wide)).attachments.length).toBeLessThanOrEqual(100);
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

describe("the header of a Gmail API mail", () => {
  const headers = (...fields: readonly (readonly [string, string])[]) => ({
    mimeType: "text/plain",
    headers: fields.map(([name, value]) => ({ name, value })),
  });

  test("gives the sender, the subject, ids and the mail server's verdict on the sender", async () => {
    const mail = await read(
      headers(
        ["Authentication-Results", "mx.google.com;\r\n       dmarc=pass header.from=example.org"],
        ["From", '"Hopper, Grace" <grace@example.org>'],
        ["Reply-To", "grace@example.com, Ada <ada@example.net>"],
        ["Subject", "=?utf-8?q?caf=C3=A9?= =?utf-8?b?IGlzIG9wZW4=?="],
        ["Message-Id", "<1@example.org>"],
        ["In-Reply-To", "<0@example.org>"],
        ["X-Other", "left out"],
      ),
    );
    expect(mail).toMatchObject({
      from: [{ name: "Hopper, Grace", address: "grace@example.org" }],
      replyTo: [{ address: "grace@example.com" }, { name: "Ada", address: "ada@example.net" }],
      subject: "café is open",
      messageId: "<1@example.org>",
      inReplyTo: "<0@example.org>",
    });
    expect(mail.headers.map(({ name }) => name)).toEqual(["authentication-results", "from"]);
    expect(judgeSender(mail, ["mx.google.com"])).toEqual({
      result: "pass",
      domain: "example.org",
      by: "mx.google.com",
    });
  });

  // The API may have decoded the field, so that a name looks like an address.
  test.each([
    ["an unfinished comment", "grace@example.org ( <eve@example.com>"],
    ["an unfinished quote", '"grace@example.org <eve@example.com>'],
    ["two addresses", "grace@example.org, eve@example.com"],
    ["two addresses in angles", "<grace@example.org> <eve@example.com>"],
    ["a group", "Friends: grace@example.org;"],
    ["an address that goes on", "grace@example.org>, <eve@example.com>"],
  ])("verifies no sender if From has %s", async (_, from) => {
    const mail = await read(headers(["Authentication-Results", "mx.google.com; dmarc=pass"], ["From", from]));
    expect(judgeSender(mail, ["mx.google.com"]).result).toBe("none");
  });

  test("is read quickly even if its length is hostile", () => {
    const began = performance.now();
    for (const hostile of [
      "(".repeat(20_000),
      '"'.repeat(19_999),
      "a@b,".repeat(5_000),
      "<".repeat(20_000),
      "=?a?b?".repeat(3_000),
    ]) {
      readAddresses(hostile);
      decodeWords(hostile);
    }
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

describe("a Gmail history", () => {
  const wanted = { label: "INBOX", includeOwn: false };
  const added = (id: string, message: string, labelIds?: readonly string[]) => ({
    id,
    messagesAdded: [{ message: { id: message, ...(labelIds === undefined ? {} : { labelIds }) } }],
  });

  test("lists each mail once, oldest first, with 64-bit numbers", () => {
    const records = [added("18446744073709551610", "b"), added("9", "a"), added("18446744073709551609", "a")];
    expect(candidatesIn(records, wanted).map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test("includes a mail without named labels, which are checked when it is read", () => {
    expect(candidatesIn([added("1", "a"), added("2", "b", ["SPAM", "INBOX"])], wanted).map(({ id }) => id)).toEqual([
      "a",
    ]);
  });

  test("advances its start to a record only in a check that begins ten minutes after the record was listed", () => {
    const look = (place: Place, records: readonly { readonly id: string }[], minutes: number) =>
      placeAfter(place, { records, historyId: "900", began: minutes * 60_000 });
    let place: Place = { start: "100" };
    place = look(place, [{ id: "200" }], 0);
    place = look(place, [{ id: "200" }, { id: "300" }], 9);
    expect(place.start).toBe("100");
    place = look(place, [{ id: "150" }, { id: "200" }, { id: "300" }], 10);
    expect(place).toEqual({ start: "200" });
  });

  test("advances its start to the end of an empty list after a day", () => {
    const look = (place: Place, hours: number) =>
      placeAfter(place, { records: [], historyId: String(900 + hours), began: hours * 3_600_000 });
    let place: Place = { start: "100" };
    for (let hour = 0; hour < 24; hour += 1) place = look(place, hour);
    expect(place.start).toBe("100");
    expect(look(place, 24)).toEqual({ start: "900" });
  });
});
