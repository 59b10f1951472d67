/** From a mail that was delivered to the turn of the agent that reads it. */
import { describe, expect } from "vitest";
import { hasDovecot, startDovecot } from "../../support/mail/dovecot.ts";
import { startImapServer } from "../../support/mail/imap-server.ts";
import { letter, testWithReader } from "../../support/mail/reader.ts";
import { type Room, test } from "./gmail-room.ts";

const waits = { announced: 1_000, polled: 7_000 };

describe.each([
  { name: "the scripted server", open: startImapServer },
  ...(hasDovecot ? [{ name: "Dovecot", open: startDovecot }] : []),
])("an IMAP mailbox on $name", ({ open }) => {
  const test = testWithReader(open);

  test("runs the agent within a second of an announced delivery", async ({ server, reader }) => {
    await reader.start();
    for (const subject of ["First", "Second"]) {
      const delivered = performance.now();
      await server.deliver(letter(subject));
      await reader.arrived(subject === "First" ? 1 : 2);
      expect((reader.seen.at(-1)?.at ?? 0) - delivered).toBeLessThan(waits.announced);
    }
  });
});

describe("a Gmail mailbox", () => {
  const email = "push@mail-project-1.test";
  const audience = "https://gateway.example.org/mail";

  async function delay(room: Room, subject: string): Promise<number> {
    const delivered = Date.now();
    room.google.mailbox.deliver({ subject });
    const before = room.seen.length;
    await room.arrived(before + 1);
    return (room.seen.at(-1)?.at ?? 0) - delivered;
  }

  test("runs the agent within a second of a pulled notice", async ({ room }) => {
    await room.start();
    for (const subject of ["First", "Second"]) expect(await delay(room, subject)).toBeLessThan(waits.announced);
  });

  test("runs the agent within a second of a posted notice", async ({ room }) => {
    await room.start({ mode: "push", subscription: undefined, push: { audience, serviceAccount: email } });
    const pushConfig = { pushEndpoint: room.pushAddress(), oidcToken: { serviceAccountEmail: email, audience } };
    room.google.pubsub.arrange(room.google.topic, "projects/mail-project-1/subscriptions/push", { pushConfig });
    for (const subject of ["First", "Second"]) expect(await delay(room, subject)).toBeLessThan(waits.announced);
  });

  test("polled every five seconds runs the agent within seven", async ({ room }) => {
    await room.start({ mode: "poll", topic: undefined, subscription: undefined, pollSeconds: 5 });
    expect(await delay(room, "First")).toBeLessThan(waits.polled);
  });
});
