/** `service webhooks gmail setup` and `teardown`, in processes of their own, against a stand-in for Google. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Finished, run, start, temporaryHome } from "../../core/cli/command.ts";
import { type Google, startGoogle } from "../../support/mail/google.ts";

let google: Google;
let home: string;
const publisher = "serviceAccount:gmail-api-push@system.gserviceaccount.com";
const pubsubScope = "https://www.googleapis.com/auth/pubsub";

beforeEach(async () => {
  google = await startGoogle();
  google.mailbox.deliver({ subject: "The quarterly figures", body: "Hello" });
  home = temporaryHome();
  mkdirSync(join(home, ".service"));
  writeFileSync(join(home, "client.json"), google.accounts.clientFile(), { mode: 0o600 });
  const roots = { apiRoot: google.url, pubsubRoot: google.url };
  writeFileSync(
    join(home, ".service", "config.jsonc"),
    `// Mine.\n${JSON.stringify({ gateway: { port: 0 }, hooks: { gmail: { accounts: { [google.address]: roots } } } }, null, 2)}\n`,
    { mode: 0o600 },
  );
});

afterEach(async () => {
  await google.close();
});

const config = () => readFileSync(join(home, ".service", "config.jsonc"), "utf8");
/** As the file has it: what is a default is not written. */
const mailbox = () => JSON.parse(config().replace("// Mine.", "")).hooks.gmail.accounts[google.address];
const args = (command: string, ...more: readonly string[]) => ["webhooks", "gmail", command, "--account", google.address, ...more];
const setupArgs = (...more: readonly string[]) => args("setup", "--credentials", join(home, "client.json"), "--no-browser", ...more);
const gmail = (command: string, ...more: readonly string[]) => run(args(command, ...more), { home });
const names = () => ["--topic", google.topic, "--subscription", google.subscription];

/** Runs the setup, and allows what it asks for in a browser of its own. */
async function consent(...more: readonly string[]): Promise<Finished> {
  const setup = start(setupArgs(...more), { home });
  const said = await setup.until(/http:\/\/127\.0\.0\.1:\d+\/o\/oauth2\/v2\/auth\?\S+/);
  const [page = ""] = /http:\/\/\S+\/o\/oauth2\/v2\/auth\?\S+/.exec(said) ?? [];
  expect(await (await fetch(page)).text()).toContain("You can close this window");
  return await setup.finished;
}

const outcomes = ({ out }: Finished): readonly string[] => {
  const { steps } = JSON.parse(out) as { readonly steps: readonly { readonly step: string; readonly outcome: string }[] };
  return steps.map(({ step, outcome }) => `${step}: ${outcome}`);
};
const state = () =>
  JSON.stringify([[...google.pubsub.topics], [...google.pubsub.subscriptions].map(([name, { settings }]) => [name, settings])]);

describe("webhooks gmail setup", () => {
  test("asks for the permission in a browser, stores it, and writes a mailbox that is polled; the second run keeps everything", async () => {
    const first = await consent("--json");
    expect([first.code, outcomes(first).filter((one) => !one.endsWith(": done"))]).toEqual([0, []]);
    expect(mailbox()).toMatchObject({
      account: google.address,
      credentials: { file: join(home, "client.json") },
    });
    expect(config()).toContain("// Mine.");
    expect(google.pubsub.topics.size).toBe(0);
    const before = config();
    const second = await run(setupArgs("--json"), { home });
    expect([second.code, outcomes(second).filter((one) => !one.endsWith(": kept"))]).toEqual([0, []]);
    expect(config()).toBe(before);
    const shown = first.out + second.out + second.err + before;
    for (const secret of [...google.accounts.secrets(), "quarterly"]) expect(shown).not.toContain(secret);
  });

  test("pull makes topic, right to publish and subscription; twice is the same state, and bindings of others stay", async () => {
    const foreign = { role: "roles/pubsub.viewer", members: ["user:grace@example.org"] };
    google.pubsub.topics.set(google.topic, { etag: 7, bindings: [foreign] });
    const first = await consent("--mode", "pull", ...names(), "--json");
    expect(first.code).toBe(0);
    expect(google.pubsub.topics.get(google.topic)?.bindings).toEqual([foreign, { role: "roles/pubsub.publisher", members: [publisher] }]);
    expect(google.pubsub.subscriptions.get(google.subscription)?.settings).toMatchObject({ topic: google.topic, expirationPolicy: {} });
    expect(mailbox()).toMatchObject({ mode: "pull", topic: google.topic, subscription: google.subscription });
    const [before, made] = [config(), state()];
    const second = await run(setupArgs("--mode", "pull", ...names(), "--json"), { home });
    expect([second.code, outcomes(second).filter((one) => !one.endsWith(": kept"))]).toEqual([0, []]);
    expect([config(), state()]).toEqual([before, made]);
  });

  test("a dry run changes nothing, here or at Google, with a permission or without one", async () => {
    const before = config();
    const early = await run(setupArgs("--mode", "pull", "--dry-run", "--json"), { home });
    expect([early.code, outcomes(early).includes("permission: would")]).toEqual([0, true]);
    expect([config(), state()]).toEqual([before, "[[],[]]"]);
    await consent("--json");
    const polled = config();
    const late = await run(setupArgs("--mode", "pull", "--dry-run", "--json"), { home });
    expect([late.code, outcomes(late).includes("configuration: would")]).toEqual([0, true]);
    expect([config(), state()]).toEqual([polled, "[[],[]]"]);
  });

  test("where a policy lets Gmail not publish, setup says so and ends in a mailbox that is polled", async () => {
    google.pubsub.faults.refusesPublisher = true;
    const finished = await consent("--mode", "pull", ...names(), "--json");
    const { ok, mode, steps } = JSON.parse(finished.out);
    expect([finished.code, ok, mode, mailbox().mode]).toEqual([0, true, "poll", undefined]);
    expect(steps.find(({ step }: { readonly step: string }) => step === "publisher")).toMatchObject({
      outcome: "failed",
      detail: expect.stringContaining("iam.allowedPolicyMemberDomains"),
      fix: expect.stringContaining("polled"),
    });
    const gateway = start(["gateway"], { home });
    await gateway.until(/the mailbox is watched/);
    expect(JSON.parse((await gmail("status", "--json")).out).mailboxes[0]).toMatchObject({ state: "ok" });
  });

  test("an unticked permission, another state and a foreign request end nothing in a stored permission", async () => {
    google.accounts.consent.unticked = [pubsubScope];
    const unticked = await consent("--mode", "pull", "--json");
    expect(unticked.code).toBe(1);
    expect(JSON.parse(unticked.out).steps.at(-1)).toMatchObject({
      step: "permission",
      outcome: "failed",
      fix: expect.stringContaining("every box"),
    });
    google.accounts.consent.unticked = [];
    const setup = start(setupArgs("--json"), { home });
    const said = await setup.until(/redirect_uri=\S+/);
    const landing = decodeURIComponent(/redirect_uri=([^&\s]+)/.exec(said)?.[1] ?? "");
    expect((await fetch(`${landing}/?state=guessed&code=forged`)).status).toBe(404);
    setup.child.kill("SIGTERM");
    expect((await setup.finished).code).toBe(1);
    expect(mailbox().credentials).toBeUndefined();
  });

  test("a permission that was withdrawn is asked for again", async () => {
    await consent("--json");
    google.accounts.permitAgain();
    const again = await consent("--json");
    expect([again.code, outcomes(again).includes("permission: done")]).toEqual([0, true]);
  });

  test("what is missing or wrong is said at its step: no credentials, no OAuth client, no such label", async () => {
    expect(await gmail("setup")).toMatchObject({ code: 2, err: expect.stringContaining("--credentials is missing") });
    writeFileSync(join(home, "other.json"), "{}");
    const other = await gmail("setup", "--credentials", join(home, "other.json"), "--json");
    expect(JSON.parse(other.out).steps.at(-1)).toMatchObject({ step: "credentials", outcome: "failed" });
    const label = await consent("--label", "Nowhere", "--json");
    expect(JSON.parse(label.out).steps.at(-1)).toMatchObject({ step: "label", fix: expect.stringContaining("There are: ") });
  });

  test("a service account needs no browser", async () => {
    writeFileSync(join(home, "service.json"), google.accounts.serviceFile(), { mode: 0o600 });
    const finished = await gmail("setup", "--service-account", join(home, "service.json"), "--json");
    expect([finished.code, outcomes(finished).includes("permission: done")]).toEqual([0, true]);
    expect(mailbox()).toMatchObject({ serviceAccount: { file: join(home, "service.json") } });
  });
});

test("teardown takes back what setup has made, and leaves what was there before; twice is fine", async () => {
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
  expect([again.code, outcomes(again).filter((one) => !one.endsWith(": kept"))]).toEqual([0, []]);
});

test("a gateway that runs reads the mailbox by itself after the setup, and run is refused beside it", async () => {
  const gateway = start(["gateway"], { home });
  await gateway.until(/ready at /);
  expect((await consent("--mode", "pull", ...names())).out).toContain("follows by itself");
  await gateway.until(/the mailbox is watched/);
  google.mailbox.deliver({ subject: "Minutes", body: "As agreed" });
  await vi.waitFor(async () => expect((await run(["hooks", "deliveries", "--json"], { home })).out).toContain('"hook": "gmail"'), {
    timeout: 20_000,
    interval: 200,
  });
  expect(await gmail("run")).toMatchObject({ code: 1, out: expect.stringContaining("A gateway (process ") });
});

test.skipIf(!existsSync("/usr/bin/script"))(
  "at a terminal without a browser the address that the browser was sent to can be pasted",
  async () => {
    const main = join(import.meta.dirname, "..", "..", "..", "core", "cli", "main.js");
    const child = spawn("script", ["-qec", [process.execPath, main, ...setupArgs()].join(" "), "/dev/null"], {
      env: { PATH: process.env.PATH, HOME: home, NO_COLOR: "1" },
    });
    let shown = "";
    let pasting: Promise<unknown> | undefined;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
      const [page] = /http:\/\/\S+\/o\/oauth2\/v2\/auth\?\S+/.exec(shown) ?? [];
      if (page === undefined || !shown.includes("was sent to: ")) return;
      pasting ??= fetch(page, { redirect: "manual" }).then((answer) => child.stdin.write(`${answer.headers.get("location")}\r`));
    });
    const code = await new Promise((resolve) => child.on("close", resolve));
    await pasting;
    expect([code, mailbox().account]).toEqual([0, google.address]);
    expect(shown).toContain("The quarterly figures");
  },
);
