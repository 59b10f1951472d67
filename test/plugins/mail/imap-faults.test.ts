/** What a mail server may do wrong, on a scripted one: mail comes late at most, and never twice. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createReader, letter } from "../../support/mail/reader.ts";
import { type ScriptedServer, startImapServer } from "../../support/mail/imap-server.ts";

let server: ScriptedServer;
const reader = createReader(() => server);

beforeEach(async () => {
  server = await startImapServer();
});

afterEach(async () => {
  await reader.close();
  await server.close();
});

/** Of the shortest poll, and the five seconds that a mail may take beyond it. */
const withinMs = 10_000;

describe("a mailbox on a server with faults", () => {
  test("is read when the server rings", async () => {
    await server.deliver(letter("Old news"));
    await reader.start();
    await server.deliver(letter("Minutes"));
    await reader.arrived(1);
    expect(reader.seen[0]?.text).toContain("Dear agent, Minutes.");
    expect(reader.subjects()).toEqual(["Minutes"]);
  });
});
