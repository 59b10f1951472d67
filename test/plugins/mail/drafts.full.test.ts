/** `reply: "draft"`: the agent's answer waits in the mailbox for a person who sends it. */
import { describe, expect, vi } from "vitest";
import { hasDovecot, startDovecot } from "../../support/mail/dovecot.ts";
import { startImapServer } from "../../support/mail/imap-server.ts";
import type { MailServer } from "../../support/mail/mail-server.ts";
import { letter, testWithReader } from "../../support/mail/reader.ts";

const answer = (text: string) => (text.includes("Keep quiet") ? "NO_REPLY" : "Dear Grace,\n\nit is **done**.\n\nÄda");
const account = { reply: "draft", pollSeconds: 5 };

interface Draft {
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

function read(mail: string): Draft {
  const [head = "", body = ""] = mail.replace(/\r\n/g, "\n").split(/\n\n([\s\S]*)/);
  const pairs = head.replace(/\n[ \t]+/g, " ").split("\n");
  const fields = Object.fromEntries(
    pairs.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
  return { fields, body: Buffer.from(body, "base64").toString("utf8").replace(/\r\n/g, "\n") };
}

async function drafts(server: MailServer, count: number, timeout = 10_000): Promise<readonly Draft[]> {
  await vi.waitFor(async () => expect((await server.mails("Drafts")).length).toBeGreaterThanOrEqual(count), {
    timeout,
    interval: 50,
  });
  return (await server.mails("Drafts")).map(read);
}

/** What would have been written has been written by then: a later mail's draft is there. */
async function onlyDraftOf(server: MailServer, subject: string): Promise<void> {
  await server.deliver(letter(subject));
  const found = await drafts(server, 1);
  expect(found.map(({ fields }) => fields.Subject)).toEqual([`Re: ${subject}`]);
}

const servers: readonly { readonly name: string; readonly start: () => Promise<MailServer> }[] = [
  { name: "the scripted server", start: startImapServer },
  ...(hasDovecot ? [{ name: "Dovecot", start: startDovecot }] : []),
];

describe.concurrent.each(servers)("a draft on $name", ({ start }) => {
  const test = testWithReader(start, { answer });

  test("is a reply to the sender only, in the thread, with quote and draft flag; the inbox is unchanged", async ({
    server,
    reader,
  }) => {
    await reader.start({ account });
    const headers = [
      "Cc: Charles <charles@example.org>",
      "Reply-To: elsewhere@example.com",
      "In-Reply-To: <first@example.org>",
      "References: <root@example.org>",
      "\t<first@example.org>\n",
    ].join("\n");
    await server.deliver(letter("RE: AW: Re: Minutes", { headers }));
    const [draft] = await drafts(server, 1);
    expect(draft?.fields).toMatchObject({
      To: '"Grace Hopper" <grace@example.org>',
      Subject: "Re: Minutes",
      "In-Reply-To": "<RE--AW--Re--Minutes@example.org>",
      References: "<root@example.org> <first@example.org> <RE--AW--Re--Minutes@example.org>",
      "Message-ID": expect.stringMatching(/^<draft\.[0-9a-f]{32}@draft\.invalid>$/),
    });
    expect(Object.keys(draft?.fields ?? {})).not.toEqual(expect.arrayContaining(["Cc"]));
    expect(JSON.stringify(draft)).not.toMatch(/charles|elsewhere/);
    expect(draft?.body).toMatch(
      /^Dear Grace,\n\nit is \*\*done\*\*\.\n\nÄda\n\nOn .* Grace Hopper wrote:\n> Dear agent, RE: AW: Re: Minutes\.\n$/,
    );
    expect(await server.flags("Drafts")).toEqual([["\\Draft"]]);
    expect(await server.flags()).toEqual([[]]);
  });

  test("supports any letters in names and subjects, and no sender can inject a field", async ({ server, reader }) => {
    await reader.start({ account });
    const subject = "=?utf-8?B?R3LDvMOfZSDwn5iAIEJjYzogZXZlQGV4YW1wbGUuY29t?=";
    await server.deliver(
      letter("x", { from: "=?utf-8?Q?Zo=C3=AB=0D=0ABcc=3A_eve=40example.com?= <zoe@example.org>" }).replace(
        "Subject: x",
        `Subject: ${subject}`,
      ),
    );
    const [draft] = await drafts(server, 1);
    expect(Object.keys(draft?.fields ?? {})).not.toEqual(expect.arrayContaining(["Bcc"]));
    const words = (text = "") =>
      text.replace(/=\?utf-8\?B\?(.*?)\?= ?/g, (_, encoded: string) => Buffer.from(encoded, "base64").toString());
    expect(words(draft?.fields.Subject)).toBe("Re: Grüße 😀 Bcc: eve@example.com");
    expect(words(draft?.fields.To)).toMatch(/^Zoë.*<zoe@example\.org>$/);
  });
});

describe.concurrent("a draft on a faulty server", () => {
  const test = testWithReader(startImapServer, { answer });

  test("is not written if replies are off, for automated mail, and for a silent answer", async ({ server, reader }) => {
    const { directory } = await reader.start({ account: { pollSeconds: 5 } });
    await server.deliver(letter("Before"));
    await reader.arrived(1);
    await reader.stop();
    await reader.start({ account, directory });
    await server.deliver(letter("List", { headers: "List-Id: <team.example.org>\n" }));
    await server.deliver(letter("Robot", { headers: "Auto-Submitted: auto-generated\n" }));
    await server.deliver(letter("Unread", { from: "no-reply@example.org" }));
    await server.deliver(letter("Keep quiet"));
    await reader.arrived(5);
    await onlyDraftOf(server, "Real");
  });

  test("is written after a restart if it could not be written before", async ({ server, reader }) => {
    server.fail({ at: "APPEND", kind: "NO", times: 1_000 });
    const { directory } = await reader.start({ account });
    await server.deliver(letter("Minutes"));
    await reader.logged(/a draft could not be stored/);
    await reader.stop();
    server.heal();
    await reader.start({ account, directory });
    expect((await drafts(server, 1)).map(({ fields }) => fields.Subject)).toEqual(["Re: Minutes"]);
  });

  test("is found by its Message-ID if the connection ends after it was stored", async ({ server, reader }) => {
    await reader.start({ account });
    server.fail({ at: "APPENDED", kind: "cut" });
    await onlyDraftOf(server, "Minutes");
    await reader.logged(/a draft could not be stored/);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await server.mails("Drafts")).toHaveLength(1);
    expect(server.count("APPEND")).toBe(1);
  });

  test("is stored at most once more if its fate stays unknown", async ({ server, reader }) => {
    await reader.start({ account });
    server.fail({ at: "APPEND", kind: "cut", times: 10 });
    await server.deliver(letter("Minutes"));
    await reader.logged(/a draft may be missing/, 20_000);
    expect(server.count("APPEND")).toBe(2);
    await server.deliver(letter("Next"));
    await reader.arrived(2);
  }, 40_000);

  test("is retried when the server refuses it, without delaying mail or other drafts", async ({ server, reader }) => {
    await reader.start({ account });
    server.fail({ at: "APPEND", kind: "NO", times: 3 });
    await server.deliver(letter("One"));
    await reader.arrived(1);
    await server.deliver(letter("Two"));
    await reader.arrived(2);
    const found = await drafts(server, 2, 20_000);
    expect(found.map(({ fields }) => fields.Subject).sort()).toEqual(["Re: One", "Re: Two"]);
    expect(reader.log()).not.toMatch(/Dear Grace|Dear agent|grace@example/);
  }, 40_000);

  test("is written while further mails wait for the next hour", async ({ server, reader }) => {
    await reader.start({ account: { ...account, maxPerHour: 2 } });
    for (const subject of ["One", "Two", "Three"]) await server.deliver(letter(subject));
    await drafts(server, 2);
    expect(reader.seen).toHaveLength(2);
  });
});
