/** `service webhooks gmail setup` and `teardown`, against a stand-in for Google. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { start } from "../../core/cli/command.ts";
import { run } from "../../core/cli/command-runner.ts";
import { createSetupRoom, hasTerminals, otherThan, outcomes } from "./gmail-setup-room.ts";

const room = createSetupRoom();
const { consent, config, mailbox, gmail, names, atGoogle } = room;
const publisher = "serviceAccount:gmail-api-push@system.gserviceaccount.com";
const pubsubScope = "https://www.googleapis.com/auth/pubsub";
const setupArgs = (...more: readonly string[]) => room.setupArgs("--no-browser", ...more);

describe("webhooks gmail setup", () => {
  test("asks for the permission in a browser, stores it, and writes a mailbox that is polled; the second run keeps everything", async () => {
    const first = await consent("--json");
    expect([first.code, otherThan("done", first)]).toEqual([0, []]);
    expect(mailbox()).toMatchObject({
      account: room.google().address,
      credentials: { file: join(room.home(), "client.json") },
    });
    expect(config()).toContain("// Mine.");
    expect(room.google().pubsub.topics.size).toBe(0);
    const before = config();
    const second = await run(setupArgs("--json"), { home: room.home() });
    expect([second.code, otherThan("kept", second)]).toEqual([0, []]);
    expect(config()).toBe(before);
    const shown = first.out + second.out + second.err + before;
    for (const secret of [...room.google().accounts.secrets(), "quarterly"]) expect(shown).not.toContain(secret);
  });

  test("pull makes topic, right to publish and subscription; twice is the same state, and bindings of others stay", async () => {
    const foreign = { role: "roles/pubsub.viewer", members: ["user:grace@example.org"] };
    room.google().pubsub.topics.set(room.google().topic, { etag: 7, bindings: [foreign] });
    const first = await consent("--mode", "pull", ...names(), "--json");
    expect(first.code).toBe(0);
    expect(room.google().pubsub.topics.get(room.google().topic)?.bindings).toEqual([
      foreign,
      { role: "roles/pubsub.publisher", members: [publisher] },
    ]);
    expect(room.google().pubsub.subscriptions.get(room.google().subscription)?.settings).toMatchObject({
      topic: room.google().topic,
      expirationPolicy: {},
    });
    expect(mailbox()).toMatchObject({ mode: "pull", topic: room.google().topic, subscription: room.google().subscription });
    const [before, made] = [config(), atGoogle()];
    const second = await run(setupArgs("--mode", "pull", ...names(), "--json"), { home: room.home() });
    expect([second.code, otherThan("kept", second)]).toEqual([0, []]);
    expect([config(), atGoogle()]).toEqual([before, made]);
  });

  test("a dry run changes nothing, here or at Google, with a permission or without one", async () => {
    const before = config();
    const early = await run(setupArgs("--mode", "pull", "--dry-run", "--json"), { home: room.home() });
    expect([early.code, outcomes(early).includes("permission: would")]).toEqual([0, true]);
    expect([config(), atGoogle()]).toEqual([before, "[[],[]]"]);
    await consent("--json");
    const polled = config();
    const late = await run(setupArgs("--mode", "pull", "--dry-run", "--json"), { home: room.home() });
    expect([late.code, outcomes(late).includes("configuration: would")]).toEqual([0, true]);
    expect([config(), atGoogle()]).toEqual([polled, "[[],[]]"]);
  });

  test("where a policy lets Gmail not publish, setup says so and ends in a mailbox that is polled", async () => {
    room.google().pubsub.faults.refusesPublisher = true;
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
    const gateway = start(["gateway"], { home: room.home() });
    await gateway.until(/the mailbox is watched/);
    expect(JSON.parse((await gmail("status", "--json")).out).mailboxes[0]).toMatchObject({ state: "ok" });
  });

  test("where Gmail may not publish to a topic that was there before, the topic stays", async () => {
    room.google().pubsub.faults.refusesPublisher = true;
    room.google().pubsub.topics.set(room.google().topic, { etag: 7, bindings: [] });
    expect(JSON.parse((await consent("--mode", "pull", ...names(), "--json")).out).mode).toBe("poll");
    expect([...room.google().pubsub.topics.keys()]).toEqual([room.google().topic]);
  });

  test("a dry run says which of topic, right to publish and subscription are there, and only reads at Google", async () => {
    await consent("--mode", "pull", ...names(), "--json");
    const { pubsub, calls, topic, subscription } = room.google();
    const notices = async () => {
      const before = calls.length;
      const finished = await run(setupArgs("--mode", "pull", ...names(), "--dry-run", "--json"), { home: room.home() });
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

  test("an unticked permission, another state and a foreign request end nothing in a stored permission", async () => {
    room.google().accounts.consent.unticked = [pubsubScope];
    const unticked = await consent("--mode", "pull", "--json");
    expect(unticked.code).toBe(1);
    expect(JSON.parse(unticked.out).steps.at(-1)).toMatchObject({
      step: "permission",
      outcome: "failed",
      fix: expect.stringContaining("every box"),
    });
    room.google().accounts.consent.unticked = [];
    const setup = start(setupArgs("--json"), { home: room.home() });
    const said = await setup.until(/redirect_uri=\S+/);
    const landing = decodeURIComponent(/redirect_uri=([^&\s]+)/.exec(said)?.[1] ?? "");
    expect((await fetch(`${landing}/?state=guessed&code=forged`)).status).toBe(404);
    setup.child.kill("SIGTERM");
    expect((await setup.finished).code).toBe(1);
    expect(mailbox().credentials).toBeUndefined();
  });

  test("a permission that another user gave is refused at its step, and not stored", async () => {
    room.google().accounts.consent.as = "eve@example.net";
    const finished = await consent("--json");
    expect(finished.code).toBe(1);
    expect(JSON.parse(finished.out).steps.at(-1)).toMatchObject({
      step: "permission",
      outcome: "failed",
      detail: `The permission was granted for eve@example.net, and not for ${room.google().address}.`,
      fix: expect.stringContaining("choose the other user"),
    });
    expect(mailbox().credentials).toBeUndefined();
    room.google().accounts.consent.as = room.google().address;
    expect((await consent("--json")).code).toBe(0);
  });

  test("a permission that was withdrawn is asked for again", async () => {
    await consent("--json");
    room.google().accounts.permitAgain();
    const again = await consent("--json");
    expect([again.code, outcomes(again).includes("permission: done")]).toEqual([0, true]);
  });

  test("what is missing or wrong is said at its step: no credentials, no OAuth client, no such label", async () => {
    expect(await gmail("setup")).toMatchObject({ code: 2, err: expect.stringContaining("--credentials is missing") });
    // Before the user is asked for a permission, not after it.
    const { project_id: _, ...installed } = JSON.parse(room.google().accounts.clientFile()).installed;
    writeFileSync(join(room.home(), "client.json"), JSON.stringify({ installed }), { mode: 0o600 });
    expect(await room.service(...room.setupArgs("--no-browser", "--mode", "pull"))).toMatchObject({
      code: 2,
      err: expect.stringContaining("--project is missing"),
    });
    writeFileSync(join(room.home(), "other.json"), "{}");
    const other = await gmail("setup", "--credentials", join(room.home(), "other.json"), "--json");
    expect(JSON.parse(other.out).steps.at(-1)).toMatchObject({ step: "credentials", outcome: "failed" });
    const label = await consent("--label", "Nowhere", "--json");
    expect(JSON.parse(label.out).steps.at(-1)).toMatchObject({ step: "label", fix: expect.stringContaining("There are: ") });
  });

  test("a service account needs no browser", async () => {
    writeFileSync(join(room.home(), "service.json"), room.google().accounts.serviceFile(), { mode: 0o600 });
    const finished = await gmail("setup", "--service-account", join(room.home(), "service.json"), "--json");
    expect([finished.code, outcomes(finished).includes("permission: done")]).toEqual([0, true]);
    expect(mailbox()).toMatchObject({ serviceAccount: { file: join(room.home(), "service.json") } });
  });
});

test("teardown takes back what setup has made, and leaves what was there before; twice is fine", async () => {
  room.google().pubsub.topics.set(room.google().topic, { etag: 7, bindings: [] });
  await consent("--mode", "pull", ...names(), "--json");
  const permission = room.google().accounts.refreshToken();
  const finished = await gmail("teardown", "--json");
  expect(finished.code).toBe(0);
  expect([[...room.google().pubsub.topics.keys()], [...room.google().pubsub.subscriptions.keys()]]).toEqual([[room.google().topic], []]);
  expect(room.google().callsOf(/\/stop$/)).toBe(1);
  expect(room.google().accounts.refreshToken()).not.toBe(permission);
  expect(mailbox()).toBeUndefined();
  const again = await gmail("teardown", "--json");
  expect([again.code, otherThan("kept", again)]).toEqual([0, []]);
});

test("what Google refuses at a teardown is reported, the rest is done, and the permission is given back the next time", async () => {
  const { pubsub, accounts, faults } = room.google();
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
  expect([second.code, outcomes(second)]).toEqual([0, ["notices: kept", "configuration: kept", "permission: done", "place: kept"]]);
  expect(second.out).toContain("delete the rest in the Google Cloud console");
  expect(accounts.refreshToken()).not.toBe(permission);
  expect(outcomes(await gmail("teardown", "--json"))).toContain("permission: kept");
});

test.skipIf(!hasTerminals)("at a terminal without a browser the address that the browser was sent to can be pasted", async () => {
  const browser = room.fakeBrowser();
  const setup = room.atTerminal(setupArgs(), browser);
  const page = await setup.page("was redirected to: ");
  setup.type((await fetch(page, { redirect: "manual" })).headers.get("location") ?? "");
  expect([await setup.finished, mailbox().account]).toEqual([0, room.google().address]);
  expect(setup.shown()).toContain("The quarterly figures");
  expect(browser.opened()).toBeUndefined();
});

test.skipIf(!hasTerminals)("a browser is opened at a terminal only, and its answer ends the wait", async () => {
  const browser = room.fakeBrowser();
  const setup = room.atTerminal(room.setupArgs(), browser);
  const page = await setup.page("Open this address in a browser");
  await vi.waitFor(() => expect(browser.opened()).toBe(page), { timeout: 60_000, interval: 20 });
  await (await fetch(page)).text();
  expect([await setup.finished, mailbox().account]).toEqual([0, room.google().address]);
});

test("without a terminal no browser is opened", async () => {
  const browser = room.fakeBrowser();
  const setup = start(room.setupArgs(), { home: room.home(), env: { PATH: `${browser.path}:${process.env.PATH}` } });
  await setup.until(/Open this address in a browser/);
  setup.child.kill("SIGTERM");
  await setup.finished;
  expect(browser.opened()).toBeUndefined();
});
