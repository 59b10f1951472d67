/**
 * Mails of Gmail that were made to cost: the event loop is not blocked for longer than 100 ms, and the next mail is
 * read.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Google, startGoogle } from "../../support/mail/google.ts";
import type { Letter } from "../../support/mail/google-mailbox.ts";
import { isWatched, type MeasuredGateway, startMeasured } from "../../support/mail/measured.ts";

let google: Google;
let gateway: MeasuredGateway;
let count = 0;

beforeAll(async () => {
  google = await startGoogle();
  google.pubsub.arrange(google.topic, google.subscription);
  gateway = await startMeasured({ gmail: { ...google.settings("pull"), maxPerHour: 1_000 } });
  await gateway.until(isWatched, 20_000);
  // What is loaded with the first mails of a process is not the cost of a mail.
  google.mailbox.deliver({ subject: "Warm" });
  google.mailbox.deliver({ subject: "Warm html", payload: text("text/html", "<p>warm</p>") });
  await gateway.until(({ read }) => read >= 2, 20_000);
  await gateway.ask();
});

afterAll(async () => {
  await gateway.close();
  await google.close();
});

const text = (mimeType: string, body: string | Buffer, charset = "utf-8") => ({
  mimeType,
  filename: "",
  headers: [{ name: "Content-Type", value: `${mimeType}; charset=${charset}` }],
  body: { size: body.length, data: Buffer.from(body).toString("base64url") },
});
const html = (body: string): Letter => ({ subject: "Bomb", payload: text("text/html", body) });
const attached = { mimeType: "application/x-nothing", filename: "x", headers: [], body: { size: 0 } };
const mixed = (parts: readonly object[]) => ({
  mimeType: "multipart/mixed",
  filename: "",
  headers: [],
  body: { size: 0 },
  parts,
});
function nested(deep: number): object {
  let tree: object = text("text/plain", "at the bottom");
  for (let level = 0; level < deep; level += 1) tree = mixed([tree]);
  return tree;
}
/** A part that is fetched by itself. */
const apart = (mimeType: string, body: string): Letter => ({
  subject: "Bomb",
  payload: { mimeType, filename: "", headers: [], body: { size: body.length, attachmentId: "a1" } },
  parts: { a1: Buffer.from(body) },
});
const headers = (name: string, value: string): Letter => ({ subject: "Bomb", headers: [{ name, value }] });
const spaces = " ".repeat(400_000);

const bombs: readonly [name: string, letter: Letter][] = [
  ["20,000 parts", { subject: "Bomb", payload: mixed(Array.from({ length: 20_000 }, () => attached)) }],
  ["300 parts in each other", { subject: "Bomb", payload: nested(300) }],
  ["2,000 parts in each other", { subject: "Bomb", payload: nested(2_000) }],
  ["a text of 1.9 MB", { subject: "Bomb", body: "Lorem ipsum dolor\n".repeat(105_000) }],
  ["a text of 1.9 MB that is fetched by itself", apart("text/plain", "Lorem ipsum dolor\n".repeat(105_000))],
  ["a text of 25 MB", { subject: "Bomb", body: "Lorem ipsum dolor\n".repeat(1_400_000) }],
  ["an HTML text of 2 MB", html("<p>Lorem ipsum dolor</p>\n".repeat(80_000))],
  ["an HTML text of 2 MB that is fetched by itself", apart("text/html", "<p>Lorem ipsum dolor</p>\n".repeat(80_000))],
  ["HTML that is all tags", html("<div style='x'>".repeat(30_000))],
  ["HTML of tables in each other", html("<table><tr><td>".repeat(10_000))],
  ["a header of 1 MB", headers("References", "<a@b> ".repeat(180_000))],
  [
    "20,000 header fields",
    { subject: "Bomb", headers: Array.from({ length: 20_000 }, () => ({ name: "List-Id", value: "<x>" })) },
  ],
  ["a subject of 1 MB", { subject: `Bomb ${"x".repeat(1_000_000)}` }],
  ["a subject of encoded words", { subject: `Bomb ${"=?utf-8?B?w6k=?= ".repeat(60_000)}` }],
  ["a result field of spaces", headers("Authentication-Results", `mx.google.com; dmarc=pass${spaces}x`)],
  ["a sender of brackets", { subject: "Bomb", from: `${"(".repeat(200_000)}${"<".repeat(200_000)} <eve@example.com>` }],
  ["a text of spaces", { subject: "Bomb", body: `${spaces}x`.repeat(2) }],
  [
    "a charset that does not exist",
    { subject: "Bomb", payload: text("text/plain", Buffer.alloc(99_000, 0xe9), "x-none") },
  ],
  [
    "a charset that it is not in",
    { subject: "Bomb", payload: text("text/plain", Buffer.alloc(99_000, 0x9b), "iso-2022-jp") },
  ],
  ["NUL bytes", { subject: "Bomb \0\0", body: "\0".repeat(100_000) }],
];

describe("a mail with", () => {
  test.each(bombs)(
    "%s does not block the event loop, and the next mail is read",
    async (_name, letter) => {
      count += 1;
      google.mailbox.deliver(letter);
      google.mailbox.deliver({ subject: `After ${count}` });
      const { longestBlockMs } = await gateway.until(({ last }) => last === `After ${count}`, 60_000);
      expect(longestBlockMs).toBeLessThan(100);
    },
    90_000,
  );
});
