import { describe, expect, vi } from "vitest";
import { scopedStore } from "../../../core/host/scope.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { writeGrant } from "../../../plugins/mail/gmail/grants.ts";
import type { Google } from "../../support/mail/google.ts";
import { type Room, test } from "./gmail-room.ts";

const days = 86_400_000;
const notices = (room: Room) =>
  room
    .chat()
    .sent.map(({ text }) => text)
    .filter((text) => text.startsWith("The mailbox"));

/** The agent has talked with its owner, so that there is a chat to write to. */
async function greet(room: Room): Promise<void> {
  await room.chat().say("hello");
  await room.chat().sentCount(1);
}

/** As the program that asks for the permission stores it, beside a running gateway. */
async function storeGrant(room: Room, refreshToken: string, grantedAt: number): Promise<void> {
  const store = await openSqliteStore({ directory: room.gateway().gateway.stateDirectory, now: Date.now });
  const { client_id } = JSON.parse(room.google.accounts.clientFile()).installed;
  await writeGrant(scopedStore(store, "plugin:mail", Date.now), room.google.address, {
    refreshToken,
    clientId: client_id,
    grantedAt,
  });
  await store.close();
}

describe.concurrent("a Gmail mailbox with a revoked permission", () => {
  test("requires a login, reports it once, and continues after a new permission without a restart", async ({
    room,
    google,
    mailbox,
  }) => {
    await room.start();
    await greet(room);
    const next = google.accounts.permitAgain();
    mailbox.deliver({ subject: "Meanwhile" });
    mailbox.touch();
    await room.state("needs_login", 30_000);
    const asked = google.callsOf(/^\/token$/);
    const { reason = "" } = (await room.status()) ?? {};
    expect(reason).toMatch(/invalid_grant.*Testing, where permissions end after seven days/);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(google.callsOf(/^\/token$/)).toBe(asked);
    expect(room.gateway().gateway.readiness()).toMatchObject({ ready: true });
    room.edit({ refreshToken: next });
    await room.state("ok");
    await room.arrived(1);
    await vi.waitFor(() => expect(notices(room)).toHaveLength(2), { timeout: 60_000 });
    expect(notices(room)[0]).toMatch(/^The mailbox ada@example\.net is not read: Google no longer accepts/);
    expect(notices(room)[1]).toBe("The mailbox ada@example.net is read again.");
    expect(room.subjects()).toEqual(["Meanwhile"]);
  }, 60_000);

  test("uses the stored permission, adopts the next one by itself, and knows the seven-day limit", async ({
    room,
    google,
    mailbox,
  }) => {
    await room.launch({ refreshToken: undefined });
    await room.state("needs_login");
    expect((await room.status())?.reason).toContain("no permission to read the mailbox ada@example.net yet");
    await storeGrant(room, google.accounts.refreshToken(), Date.now() - 7.5 * days);
    await room.state("ok", 20_000);
    const next = google.accounts.permitAgain();
    mailbox.touch();
    mailbox.deliver({ subject: "Meanwhile" });
    await room.state("needs_login", 30_000);
    expect((await room.status())?.reason).toContain("It is seven days old: with the publishing status Testing");
    await storeGrant(room, next, Date.now());
    await room.arrived(1, 20_000);
  }, 90_000);
});

describe.concurrent("a Gmail mailbox that Google refuses", () => {
  test("renews a rejected access token once, without any visible effect", async ({ room, google, mailbox }) => {
    await room.start();
    google.accounts.endTokens();
    mailbox.deliver({ subject: "One" });
    await room.arrived(1);
    google.faults.unauthorized = 1;
    mailbox.deliver({ subject: "Two" });
    await room.arrived(2);
    expect(room.log()).not.toContain("a mailbox is not read");
  }, 20_000);

  test("waits as long as Google requests", async ({ room, google, mailbox }) => {
    await room.start({ mode: "poll", pollSeconds: 5 });
    Object.assign(google.faults, { rateLimited: 1, retryAfterSeconds: 3 });
    mailbox.deliver({ subject: "Slowly" });
    await room.state("retrying");
    const refused = Date.now();
    expect((await room.status())?.reason).toContain("429");
    await room.arrived(1);
    expect(Date.now() - refused).toBeGreaterThan(2_500);
    expect(
      google.calls.filter(({ at, path }) => at > refused && at < refused + 2_500 && path.includes("/history")),
    ).toEqual([]);
  }, 30_000);

  test("reports where to enable the API and reads as soon as it is enabled", async ({ room, google }) => {
    google.faults.isDisabled = true;
    await room.launch();
    await room.state("needs_setup");
    const link =
      "Switch the API on: https://console.developers.google.com/apis/api/gmail.googleapis.com/overview?project=1234";
    expect(await room.status()).toMatchObject({ fix: link });
    google.faults.isDisabled = false;
    await room.state("ok");
  }, 20_000);

  test.for<[name: string, section: object, reason: RegExp]>([
    [
      "a file that is none",
      { credentials: "credentials.json" },
      /hooks\.gmail\.credentials is not the JSON of a credentials file/,
    ],
    ["a file without a client", { credentials: "{}" }, /hooks\.gmail\.credentials contains no OAuth client/],
    ["another mailbox", { account: "eve@example.net" }, /open the mailbox ada@example\.net and not eve@example\.net/],
    ["no mailbox", { account: undefined }, /hooks\.gmail\.account is not set/],
    ["a label that does not exist", { label: "Nowhere" }, /has no label "Nowhere"/],
    [
      "a service account without a key",
      { serviceAccount: "{}" },
      /hooks\.gmail\.serviceAccount contains no service account/,
    ],
  ])("requires a setup with %s", async ([, section, reason], { room }) => {
    await room.launch(section);
    await vi.waitFor(
      async () =>
        expect(await room.status()).toMatchObject({ state: "needs_setup", reason: expect.stringMatching(reason) }),
      60_000,
    );
  });

  test("requires a login if Google does not know the client", async ({ room, google }) => {
    const file = JSON.parse(google.accounts.clientFile());
    await room.launch({
      credentials: JSON.stringify({ installed: { ...file.installed, client_secret: "another-secret" } }),
    });
    await room.state("needs_login");
    expect(room.log()).not.toContain("another-secret");
  });
});

describe.concurrent("a Gmail mailbox read by a service account", () => {
  test("is read with notices, and reports what is missing without the delegation", async ({
    room,
    google,
    mailbox,
  }) => {
    const { accounts } = google;
    const section = { credentials: undefined, refreshToken: undefined, serviceAccount: accounts.serviceFile() };
    accounts.service.mayRead = false;
    await room.launch(section);
    await room.state("needs_setup");
    expect((await room.status())?.reason).toMatch(/does not allow the service account reader@.* to read this mailbox/);
    accounts.service.mayRead = true;
    await room.state("ok");
    mailbox.deliver({ subject: "Delegated" });
    await room.arrived(1);
  }, 20_000);
});

describe.concurrent("the notices of a Gmail mailbox", () => {
  test("are subscribed at startup, daily and before they expire, and the status shows the expiry", async ({
    room,
    google,
    mailbox,
  }) => {
    let ahead = 0;
    const now = () => Date.now() + ahead;
    const watches = () => google.callsOf(/\/watch$/);
    const { directory } = await room.start({}, { now });
    expect(watches()).toBe(1);
    const { expires = 0 } = (await room.status()) ?? {};
    expect(Math.abs(expires - Date.now() - 7 * days)).toBeLessThan(60_000);
    await room.looked();
    expect(watches()).toBe(1);
    ahead = 1.1 * days;
    await room.looked();
    expect(watches()).toBe(2);
    mailbox.faults.watchMs = 2 * days;
    ahead = 2.3 * days;
    await room.looked();
    expect(watches()).toBe(3);
    await room.gateway().gateway.close();
    await room.start({}, { directory, now });
    expect(watches()).toBe(4);
  }, 20_000);

  const without = (things: Map<string, unknown>): object => {
    things.clear();
    return {};
  };

  test.for<[name: string, arrange: (google: Google) => object, reason: RegExp]>([
    [
      "may not be published",
      (google) => without(google.pubsub.topics),
      /Google refused to announce mail of this mailbox \(403/,
    ],
    ["have no subscription", (google) => without(google.pubsub.subscriptions), /Google refused to take notices \(404/],
    ["have no topic in the settings", () => ({ topic: undefined }), /hooks\.gmail\.topic is missing/],
    [
      "have no subscription in the settings",
      () => ({ subscription: undefined }),
      /hooks\.gmail\.subscription is missing/,
    ],
    ["have no audience in the settings", () => ({ mode: "push" }), /hooks\.gmail\.push is missing/],
  ])("that %s are reported by the mailbox, which polls instead", async ([, arrange, reason], { room, google }) => {
    await room.launch(arrange(google));
    await room.state("needs_setup");
    expect((await room.status())?.reason).toMatch(/^Mail is found by polling only: /);
    expect((await room.status())?.reason).toMatch(reason);
  });

  test("that do not arrive delay mail by at most one poll", async ({ room, google, mailbox }) => {
    without(google.pubsub.topics);
    await room.launch({ pollSeconds: 5 });
    await room.state("needs_setup");
    mailbox.deliver({ subject: "Polled" });
    await room.arrived(1);
  }, 20_000);

  test("arrive at once again after an empty response or an outage of the subscription", async ({
    room,
    google,
    mailbox,
  }) => {
    google.pubsub.faults.emptyPulls = 2;
    await room.start();
    mailbox.deliver({ subject: "After silence" });
    await room.arrived(1);
    const arranged = [...google.pubsub.subscriptions];
    google.pubsub.subscriptions.clear();
    await room.state("needs_setup");
    for (const [name, subscription] of arranged) google.pubsub.subscriptions.set(name, subscription);
    await room.state("ok", 20_000);
    mailbox.deliver({ subject: "After an outage" });
    await room.arrived(2, 2_000);
  }, 40_000);
});

test.concurrent("the log, the status and errors contain no secret and no text of a mail", async ({
  room,
  google,
  mailbox,
}) => {
  await room.start();
  mailbox.deliver({
    subject: "Confidential subject",
    body: "Confidential body",
    from: "Secret Sender <sender@example.org>",
  });
  await room.arrived(1);
  const secrets = google.accounts.secrets();
  google.accounts.permitAgain();
  mailbox.touch();
  await room.state("needs_login", 30_000);
  const shown =
    room.log() +
    JSON.stringify(await room.gateway().gateway.describe()) +
    JSON.stringify(room.gateway().gateway.readiness());
  for (const secret of [...secrets, ...google.accounts.secrets(), "Confidential", "sender@example.org"])
    expect(shown).not.toContain(secret);
}, 60_000);

// It changes the environment of the process.
test("notices come from the emulator in PUBSUB_EMULATOR_HOST without a Google token", async ({
  room,
  google,
  mailbox,
}) => {
  process.env.PUBSUB_EMULATOR_HOST = new URL(google.url).host;
  try {
    google.faults.isEmulator = true;
    await room.start({ pubsubRoot: undefined });
    mailbox.deliver({ subject: "Emulated" });
    await room.arrived(1, 2_000);
    expect(google.pubsub.tokens).toEqual(new Set(["Bearer none"]));
  } finally {
    delete process.env.PUBSUB_EMULATOR_HOST;
  }
});
