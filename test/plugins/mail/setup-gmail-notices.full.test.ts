/**
 * From a configuration without a mailbox to a gateway that is announced its mail and runs it, with nothing but the
 * commands.
 */
import { expect } from "vitest";
import { test } from "./gmail-setup-room.ts";

const publisher = "serviceAccount:gmail-api-push@system.gserviceaccount.com";
const email = "push@mail-project-1.test";

test("pull: after setup, the running gateway receives notices and runs the mail, and run is refused", async ({
  room,
}) => {
  const { consent, gmail, names, google, ran } = room;
  const gateway = await room.startGateway();
  expect((await consent("--mode", "pull", ...names())).out).toContain("applies this within seconds");
  await gateway.until(/the mailbox is watched/);
  // The mailbox is polled every five minutes only.
  google.mailbox.deliver({ subject: "Minutes", body: "As agreed" });
  await ran(1);
  expect(google.pubsub.acknowledged.length).toBeGreaterThan(0);
  expect(await gmail("run")).toMatchObject({ code: 1, out: expect.stringContaining("A gateway (process ") });
});

test("push: Google posts to the configured public address as its service account, and the mail runs", async ({
  room,
}) => {
  const { consent, mailbox, google, ran } = room;
  const gateway = await room.startGateway();
  const endpoint = `https://gateway.example.org/plugins/mail/gmail/${google.address}`;
  google.tunnels.set("https://gateway.example.org", gateway.url);
  const push = ["--mode", "push", "--push-endpoint", endpoint, "--push-service-account", email];
  expect(await consent("--json", ...push)).toMatchObject({ code: 0 });
  expect(mailbox()).toMatchObject({ mode: "push", push: { audience: endpoint, serviceAccount: email } });
  expect([...google.pubsub.subscriptions.values()].map(({ settings }) => settings.pushConfig)).toEqual([
    { pushEndpoint: endpoint, oidcToken: { serviceAccountEmail: email, audience: endpoint } },
  ]);
  await gateway.until(/the mailbox is watched/);
  google.mailbox.deliver({ subject: "Minutes", body: "As agreed" });
  await ran(1);
  expect(google.pubsub.posted.map(({ status }) => status)).toContain(204);
});

test("the publish permission is added to a policy that changes at the same time, and both changes remain", async ({
  room,
}) => {
  const { consent, names, google } = room;
  google.pubsub.topics.set(google.topic, { etag: 7, bindings: [] });
  google.pubsub.faults.policyChanges = 2;
  expect((await consent("--mode", "pull", ...names())).code).toBe(0);
  const bindings = google.pubsub.topics.get(google.topic)?.bindings ?? [];
  expect(bindings.map(({ role }) => role)).toEqual([
    "roles/pubsub.viewer",
    "roles/pubsub.viewer",
    "roles/pubsub.publisher",
  ]);
  expect(bindings.at(-1)?.members).toEqual([publisher]);
});

test("--since reads that far back once, at the first start; older mail is ignored, and later mail runs", async ({
  room,
}) => {
  const { consent, gmail, google, ran } = room;
  const daysAgo = (days: number) => Date.now() - days * 86_400_000;
  google.mailbox.deliver({ subject: "Old", at: daysAgo(3) });
  google.mailbox.deliver({ subject: "Recent", at: daysAgo(1) });
  expect((await consent("--since", "2d")).out).toMatch(/^done +start +Reading begins with the mails since /m);
  const gateway = await room.startGateway();
  await gateway.until(/the mailbox is watched/);
  // With the mail that was there before, which has just come.
  await ran(2);
  google.mailbox.deliver({ subject: "Later" });
  gateway.child.kill("SIGTERM");
  await gateway.finished;
  await (await room.startGateway()).until(/the mailbox is watched/);
  await ran(3);
  expect((await gmail("setup", "--since", "2d")).out).toMatch(/^kept +start +Reading has already begun/m);
});
