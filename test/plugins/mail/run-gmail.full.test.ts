/** `service webhooks gmail run`, beside a real gateway and without one, each in a process of its own. */
import { expect, vi } from "vitest";
import { startWebhook } from "../../support/mail/webhook.ts";
import { test } from "./gmail-setup-room.ts";

test("run passes each mail on by HTTP with its key, and the next start continues from there", async ({ room }) => {
  const { consent, google } = room;
  await consent();
  const { url, calls } = await startWebhook("/in/gmail");
  const watch = async () => {
    const watching = room.start(room.args("run", "--url", url));
    await watching.until(/the mailbox is watched/);
    return watching;
  };
  const first = await watch();
  first.child.kill("SIGTERM");
  expect((await first.finished).code).toBe(0);
  const id = google.mailbox.deliver({ subject: "Minutes", body: "As agreed" });
  const second = await watch();
  await vi.waitFor(() => expect(calls).toHaveLength(1), { timeout: 60_000, interval: 20 });
  expect(calls[0]?.headers["idempotency-key"]).toBe(`mail:gmail:${google.address}:${id}`);
  expect(JSON.parse(calls[0]?.body ?? "")).toMatchObject({
    source: "gmail",
    messages: [{ id, subject: "Minutes", body: "As agreed" }],
  });
  second.child.kill("SIGTERM");
  const { code, out, err } = await second.finished;
  expect(code).toBe(0);
  for (const text of [...google.accounts.secrets(), "Minutes"]) expect(out + err).not.toContain(text);
});

test("run reads a mailbox that the gateway does not watch, and its mail runs in that gateway", async ({ room }) => {
  const { consent, google, ran } = room;
  await consent();
  await room.service("config", "set", `hooks.gmail.accounts["${google.address}"].enabled`, "false");
  await room.startGateway();
  const watching = room.start(room.args("run"));
  await watching.until(/the mailbox is watched/);
  watching.child.kill("SIGTERM");
  await watching.finished;
  const id = google.mailbox.deliver({ subject: "Minutes", body: "As agreed" });
  room.start(room.args("run"));
  await ran(1);
  const { deliveries } = JSON.parse((await room.service("hooks", "deliveries", "--json")).out);
  // What the agent reads is the transcript of the session.
  const { out } = await room.service("sessions", "show", `hook:gmail:${id}`);
  expect([deliveries.length, out]).toEqual([
    1,
    expect.stringContaining("The sender of this mail is not verified: the address may be forged."),
  ]);
});
