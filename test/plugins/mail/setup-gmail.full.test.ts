/** `service webhooks gmail setup` and `teardown`, against a stand-in for Google. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, vi } from "vitest";
import { sendJunkRequests } from "../../support/junk-requests.ts";
import { hasTerminals, otherThan, outcomes, type SetupRoom, test } from "./gmail-setup-room.ts";

const publisher = "serviceAccount:gmail-api-push@system.gserviceaccount.com";
const pubsubScope = "https://www.googleapis.com/auth/pubsub";
const setupArgs = (room: SetupRoom, ...more: readonly string[]) => room.setupArgs("--no-browser", ...more);

describe.concurrent("webhooks gmail setup", () => {
  test("asks for permission in a browser, stores it and adds a polled mailbox; a second run changes nothing", async ({
    room,
  }) => {
    const { consent, config, mailbox, google } = room;
    const first = await consent("--json");
    expect([first.code, otherThan("done", first)]).toEqual([0, []]);
    expect(mailbox()).toMatchObject({
      account: google.address,
      credentials: { file: join(room.home, "client.json") },
    });
    expect(config()).toContain("// Mine.");
    expect(google.pubsub.topics.size).toBe(0);
    const before = config();
    const second = await room.service(...setupArgs(room, "--json"));
    expect([second.code, otherThan("kept", second)]).toEqual([0, []]);
    expect(config()).toBe(before);
    const shown = first.out + second.out + second.err + before;
    for (const secret of [...google.accounts.secrets(), "quarterly"]) expect(shown).not.toContain(secret);
  });

  test("uses hooks.gmail.apiRoot for a new mailbox, even if the section has no mailbox of its own", async ({
    roomOfSection,
  }) => {
    const { consent, config, google } = roomOfSection;
    const first = await consent("--json");
    expect([first.code, otherThan("done", first)]).toEqual([0, []]);
    expect(config()).toContain(JSON.stringify(google.address));
    expect(config().split(google.url)).toHaveLength(3);
  });

  test("with pull creates topic, permission and subscription, is idempotent, and leaves other bindings alone", async ({
    room,
  }) => {
    const { consent, config, mailbox, atGoogle, names, google } = room;
    const foreign = { role: "roles/pubsub.viewer", members: ["user:grace@example.org"] };
    google.pubsub.topics.set(google.topic, { etag: 7, bindings: [foreign] });
    const first = await consent("--mode", "pull", ...names(), "--json");
    expect(first.code).toBe(0);
    expect(google.pubsub.topics.get(google.topic)?.bindings).toEqual([
      foreign,
      { role: "roles/pubsub.publisher", members: [publisher] },
    ]);
    expect(google.pubsub.subscriptions.get(google.subscription)?.settings).toMatchObject({
      topic: google.topic,
      expirationPolicy: {},
    });
    expect(mailbox()).toMatchObject({ mode: "pull", topic: google.topic, subscription: google.subscription });
    const [before, made] = [config(), atGoogle()];
    const second = await room.service(...setupArgs(room, "--mode", "pull", ...names(), "--json"));
    expect([second.code, otherThan("kept", second)]).toEqual([0, []]);
    expect([config(), atGoogle()]).toEqual([before, made]);
  });

  test("changes nothing in a dry run, locally or at Google, with or without a permission", async ({ room }) => {
    const { consent, config, atGoogle } = room;
    const before = config();
    const early = await room.service(...setupArgs(room, "--mode", "pull", "--dry-run", "--json"));
    expect([early.code, outcomes(early).includes("permission: would")]).toEqual([0, true]);
    expect([config(), atGoogle()]).toEqual([before, "[[],[]]"]);
    await consent("--json");
    const polled = config();
    const late = await room.service(...setupArgs(room, "--mode", "pull", "--dry-run", "--json"));
    expect([late.code, outcomes(late).includes("configuration: would")]).toEqual([0, true]);
    expect([config(), atGoogle()]).toEqual([polled, "[[],[]]"]);
  });

  test("falls back to a polled mailbox and says so if a policy forbids Gmail to publish", async ({ room }) => {
    const { consent, mailbox, gmail, atGoogle, names, google } = room;
    google.pubsub.faults.refusesPublisher = true;
    const finished = await consent("--mode", "pull", ...names(), "--json");
    const { ok, mode, steps } = JSON.parse(finished.out);
    expect([finished.code, ok, mode, mailbox().mode]).toEqual([0, true, "poll", undefined]);
    expect(steps.find(({ step }: { readonly step: string }) => step === "publisher")).toMatchObject({
      outcome: "failed",
      detail: expect.stringContaining("iam.allowedPolicyMemberDomains"),
      fix: expect.stringContaining("polled"),
    });
    expect(steps.at(-1)).toMatchObject({ step: "configuration" });
    // What was made for the notices is removed again.
    expect(atGoogle()).toBe("[[],[]]");
    const gateway = room.start(["gateway"]);
    await gateway.until(/the mailbox is watched/);
    expect(JSON.parse((await gmail("status", "--json")).out).mailboxes[0]).toMatchObject({ state: "ok" });
  });

  test("leaves an existing topic in place if Gmail may not publish to it", async ({ room }) => {
    const { consent, names, google } = room;
    google.pubsub.faults.refusesPublisher = true;
    google.pubsub.topics.set(google.topic, { etag: 7, bindings: [] });
    expect(JSON.parse((await consent("--mode", "pull", ...names(), "--json")).out).mode).toBe("poll");
    expect([...google.pubsub.topics.keys()]).toEqual([google.topic]);
  });

  test("reports in a dry run which of topic, permission and subscription exist, with reads only", async ({ room }) => {
    const { consent, names, google } = room;
    await consent("--mode", "pull", ...names(), "--json");
    const { pubsub, calls, topic, subscription } = google;
    const notices = async () => {
      const before = calls.length;
      const finished = await room.service(...setupArgs(room, "--mode", "pull", ...names(), "--dry-run", "--json"));
      expect(calls.slice(before).filter(({ method, path }) => method !== "GET" && path !== "/token")).toEqual([]);
      return outcomes(finished).filter((one) => /^(?:topic|publisher|subscription|announcement): /.test(one));
    };
    expect(await notices()).toEqual(["topic: kept", "publisher: kept", "subscription: kept", "announcement: kept"]);
    pubsub.subscriptions.delete(subscription);
    pubsub.topics.set(topic, { etag: 9, bindings: [] });
    expect(await notices()).toEqual(["topic: kept", "publisher: would", "subscription: would", "announcement: would"]);
    pubsub.topics.delete(topic);
    expect(await notices()).toEqual(["topic: would", "publisher: would", "subscription: would", "announcement: would"]);
  });

  test("does not store an incomplete permission, and ignores a wrong state or a foreign request", async ({ room }) => {
    const { consent, mailbox, google } = room;
    google.accounts.consent.unticked = [pubsubScope];
    const unticked = await consent("--mode", "pull", "--json");
    expect(unticked.code).toBe(1);
    expect(JSON.parse(unticked.out).steps.at(-1)).toMatchObject({
      step: "permission",
      outcome: "failed",
      fix: expect.stringContaining("every box"),
    });
    google.accounts.consent.unticked = [];
    const setup = room.start(setupArgs(room, "--json"));
    const said = await setup.until(/redirect_uri=\S+/);
    const landing = decodeURIComponent(/redirect_uri=([^&\s]+)/.exec(said)?.[1] ?? "");
    expect((await fetch(`${landing}/?state=guessed&code=forged`)).status).toBe(404);
    expect(Object.keys(await sendJunkRequests(`${landing}/?state=%00&code[]=1`))).toEqual(["404"]);
    setup.child.kill("SIGTERM");
    expect((await setup.finished).code).toBe(1);
    expect(mailbox().credentials).toBeUndefined();
  });

  test("rejects a permission from another user at its step and does not store it", async ({ room }) => {
    const { consent, mailbox, google } = room;
    google.accounts.consent.as = "eve@example.net";
    const finished = await consent("--json");
    expect(finished.code).toBe(1);
    expect(JSON.parse(finished.out).steps.at(-1)).toMatchObject({
      step: "permission",
      outcome: "failed",
      detail: `The permission was granted for eve@example.net, and not for ${google.address}.`,
      fix: expect.stringContaining("choose the other user"),
    });
    expect(mailbox().credentials).toBeUndefined();
    google.accounts.consent.as = google.address;
    expect((await consent("--json")).code).toBe(0);
  });

  test("asks again for a revoked permission", async ({ room }) => {
    const { consent, google } = room;
    await consent("--json");
    google.accounts.permitAgain();
    const again = await consent("--json");
    expect([again.code, outcomes(again).includes("permission: done")]).toEqual([0, true]);
  });

  test("reports missing credentials, OAuth client or label at the step that needs them", async ({ room }) => {
    const { consent, gmail, google } = room;
    expect(await gmail("setup")).toMatchObject({ code: 2, err: expect.stringContaining("--credentials is missing") });
    // Before the user is asked for a permission, not after it.
    const { project_id: _, ...installed } = JSON.parse(google.accounts.clientFile()).installed;
    writeFileSync(join(room.home, "client.json"), JSON.stringify({ installed }), { mode: 0o600 });
    expect(await room.service(...room.setupArgs("--no-browser", "--mode", "pull"))).toMatchObject({
      code: 2,
      err: expect.stringContaining("--project is missing"),
    });
    writeFileSync(join(room.home, "other.json"), "{}");
    const other = await gmail("setup", "--credentials", join(room.home, "other.json"), "--json");
    expect(JSON.parse(other.out).steps.at(-1)).toMatchObject({ step: "credentials", outcome: "failed" });
    const label = await consent("--label", "Nowhere", "--json");
    expect(JSON.parse(label.out).steps.at(-1)).toMatchObject({
      step: "label",
      fix: expect.stringContaining("There are: "),
    });
  });

  test("needs no browser for a service account", async ({ room }) => {
    const { mailbox, gmail, google } = room;
    writeFileSync(join(room.home, "service.json"), google.accounts.serviceFile(), { mode: 0o600 });
    const finished = await gmail("setup", "--service-account", join(room.home, "service.json"), "--json");
    expect([finished.code, outcomes(finished).includes("permission: done")]).toEqual([0, true]);
    expect(mailbox()).toMatchObject({ serviceAccount: { file: join(room.home, "service.json") } });
  });
});

test.concurrent("teardown removes what setup created, leaves what existed before, and can be repeated", async ({
  room,
}) => {
  const { consent, mailbox, gmail, names, google } = room;
  google.pubsub.topics.set(google.topic, { etag: 7, bindings: [] });
  await consent("--mode", "pull", ...names(), "--json");
  const permission = google.accounts.refreshToken();
  const finished = await gmail("teardown", "--json");
  expect(finished.code).toBe(0);
  expect([[...google.pubsub.topics.keys()], [...google.pubsub.subscriptions.keys()]]).toEqual([[google.topic], []]);
  expect(google.callsOf(/\/stop$/)).toBe(1);
  expect(google.accounts.refreshToken()).not.toBe(permission);
  expect(mailbox()).toBeUndefined();
  const again = await gmail("teardown", "--json");
  expect([again.code, otherThan("kept", again)]).toEqual([0, []]);
});

test.concurrent("teardown reports what Google refuses, does the rest, revokes the permission the next time", async ({
  room,
}) => {
  const { consent, mailbox, gmail, names, google } = room;
  const { pubsub, accounts, faults } = google;
  await consent("--mode", "pull", ...names(), "--json");
  const permission = accounts.refreshToken();
  pubsub.faults.refusesDelete = true;
  faults.refusesRevoke = true;
  const first = await gmail("teardown", "--json");
  expect([first.code, JSON.parse(first.out).ok, outcomes(first)]).toEqual([
    1,
    false,
    ["notices: done", "notices: failed", "notices: failed", "configuration: done", "permission: failed", "place: kept"],
  ]);
  expect(first.out).toContain("https://myaccount.google.com/permissions");
  expect([mailbox(), accounts.refreshToken()]).toEqual([undefined, permission]);
  faults.refusesRevoke = false;
  const second = await gmail("teardown", "--json");
  expect([second.code, outcomes(second)]).toEqual([
    0,
    ["notices: kept", "configuration: kept", "permission: done", "place: kept"],
  ]);
  expect(second.out).toContain("delete the rest in the Google Cloud console");
  expect(accounts.refreshToken()).not.toBe(permission);
  expect(outcomes(await gmail("teardown", "--json"))).toContain("permission: kept");
});

test.skipIf(!hasTerminals)(
  "without a browser on the machine, the redirect address can be pasted at the terminal",
  { concurrent: true },
  async ({ room }) => {
    const { mailbox, google } = room;
    const browser = room.fakeBrowser();
    const setup = room.atTerminal(setupArgs(room), browser);
    const page = await setup.page("was redirected to: ");
    setup.type((await fetch(page, { redirect: "manual" })).headers.get("location") ?? "");
    expect([await setup.finished, mailbox().account]).toEqual([0, google.address]);
    expect(setup.shown()).toContain("The quarterly figures");
    expect(browser.opened()).toBeUndefined();
  },
);

test.skipIf(!hasTerminals)(
  "a browser is opened only at a terminal, and its response ends the wait",
  { concurrent: true },
  async ({ room }) => {
    const { mailbox, google } = room;
    const browser = room.fakeBrowser();
    const setup = room.atTerminal(room.setupArgs(), browser);
    const page = await setup.page("Open this address in a browser");
    await vi.waitFor(() => expect(browser.opened()).toBe(page), { timeout: 60_000, interval: 20 });
    await (await fetch(page)).text();
    expect([await setup.finished, mailbox().account]).toEqual([0, google.address]);
  },
);

test.concurrent("no browser is opened without a terminal", async ({ room }) => {
  const browser = room.fakeBrowser();
  const setup = room.start(room.setupArgs(), { PATH: `${browser.path}:${process.env.PATH}` });
  await setup.until(/Open this address in a browser/);
  setup.child.kill("SIGTERM");
  await setup.finished;
  expect(browser.opened()).toBeUndefined();
});
