/** Mails that were made to cost: the event loop is not blocked for longer than 100 ms, and the next mail is read. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ScriptedServer, startImapServer } from "../../support/mail/imap-server.ts";
import { imapOn, isWatched, type MeasuredGateway, startMeasured } from "../../support/mail/measured.ts";
import { letter } from "../../support/mail/reader.ts";

let server: ScriptedServer;
let gateway: MeasuredGateway;
let count = 0;

beforeAll(async () => {
  server = await startImapServer();
  gateway = await startMeasured({ imap: imapOn(server, { pollSeconds: 5, maxPerHour: 1_000 }) });
  await gateway.until(isWatched, 20_000);
  // What is loaded with the first mails of a process is not the cost of a mail.
  server.deliverAll([
    letter("Warm"),
    letter("Warm html", { headers: "Content-Type: text/html\n", body: "<p>warm</p>" }),
  ]);
  await gateway.until(({ read }) => read >= 2, 20_000);
  await gateway.ask();
});

afterAll(async () => {
  await gateway.close();
  await server.close();
});

const part = '("application" "x-nothing" NIL NIL NIL "7bit" 0 NIL NIL NIL NIL)';
const many = (parts: number) => `(${part.repeat(parts)} "mixed" ("boundary" "b") NIL NIL NIL)`;
const nested = (deep: number) => `${"(".repeat(deep)}${part}${' "mixed" ("boundary" "b") NIL NIL NIL)'.repeat(deep)}`;
const spaces = " ".repeat(400_000);
const html = (body: string) => letter("Bomb", { headers: "Content-Type: text/html\n", body });

const bombs: readonly [name: string, mail: string, structure?: string][] = [
  ["20,000 parts, whose structure is larger than may be read", letter("Bomb"), many(20_000)],
  ["7,500 parts, whose structure may just be read", letter("Bomb"), many(7_500)],
  ["300 parts in each other", letter("Bomb"), nested(300)],
  ["10,000 parts in each other", letter("Bomb"), nested(10_000)],
  ["a text of 25 MB", letter("Bomb", { body: "Lorem ipsum dolor\n".repeat(1_400_000) })],
  ["an HTML text of 25 MB", html("<p>Lorem ipsum dolor</p>\n".repeat(1_000_000))],
  ["HTML that is all tags", html("<div style='x'>".repeat(30_000))],
  ["HTML of tables in each other", html("<table><tr><td>".repeat(10_000))],
  ["a header of 1 MB", letter("Bomb", { headers: `References: ${"<a@b> ".repeat(180_000)}\n` })],
  ["a subject of 1 MB", letter(`Bomb ${"x".repeat(1_000_000)}`)],
  ["a subject of 400 KB", letter(`Bomb ${"é ".repeat(133_000)}`)],
  [
    "a result field of spaces",
    letter("Bomb", { headers: `Authentication-Results: mx.example.net; dmarc=pass${spaces}x\n` }),
  ],
  ["a sender of brackets", letter("Bomb", { from: `${"(".repeat(200_000)}${"<".repeat(200_000)} <eve@example.com>` })],
  ["a text of spaces", letter("Bomb", { body: `${spaces}x`.repeat(2) })],
  [
    "a charset that does not exist",
    letter("Bomb", { headers: 'Content-Type: text/plain; charset="x-none"\n', body: "caf\u00e9 \u0000".repeat(9_000) }),
  ],
  [
    "a charset that it is not in",
    letter("Bomb", {
      headers: 'Content-Type: text/plain; charset="iso-2022-jp"\n',
      body: "caf\u00e9\u001b$B".repeat(9_000),
    }),
  ],
  ["NUL bytes", letter("Bomb \u0000\u0000", { body: "\u0000".repeat(100_000) })],
];

describe("a mail with", () => {
  test.each(bombs)(
    "%s does not block the event loop, and the next mail is read",
    async (_name, mail, structure) => {
      count += 1;
      server.deliverAll([mail], structure === undefined ? {} : { structure });
      server.deliverAll([letter(`After ${count}`)]);
      const { longestBlockMs } = await gateway.until(({ last }) => last === `After ${count}`, 60_000);
      expect(longestBlockMs).toBeLessThan(100);
    },
    90_000,
  );
});

test.each(["UID SEARCH", "IDLE"])(
  "endless lines in response to %s do not block the event loop, and a new connection reads the next mail",
  async (at) => {
    count += 1;
    const { residentMb: before } = await gateway.ask();
    const { all } = server.connections();
    server.fail({ at, kind: "flood" });
    await server.kick();
    // One connection for the flood, and one behind it.
    const flooded = await gateway.until(() => server.connections().all > all + 1, 60_000);
    server.deliverAll([letter(`After ${count}`)]);
    const { longestBlockMs, residentMb } = await gateway.until(({ last }) => last === `After ${count}`, 30_000);
    expect(Math.max(longestBlockMs, flooded.longestBlockMs)).toBeLessThan(100);
    expect(Math.max(residentMb, flooded.residentMb) - before).toBeLessThan(50);
  },
  100_000,
);
