/**
 * A gateway beside `webhooks gmail run`: it waits for the mailbox, says why, and takes it when the other process has
 * ended.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type AtEnd, start } from "../../core/cli/command.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { startWebhook } from "../../support/mail/webhook.ts";
import { type Room, test } from "./gmail-room.ts";

const section = { mode: "poll", pollSeconds: 5 };

/** `run` on the state that the gateway is started on afterwards. */
async function startRun(room: Room, directory: string, atEnd: AtEnd) {
  const { url } = await startWebhook("/in/gmail", atEnd);
  const config = join(directory, "run.json");
  mkdirSync(join(directory, "state"), { mode: 0o700 });
  writeFileSync(config, JSON.stringify({ state: { dir: "state" }, ...room.configOf(section) }), { mode: 0o600 });
  const command = ["webhooks", "gmail", "run", "--account", room.google.address, "--url", url, "--config", config];
  const watching = start(command, { home: directory, atEnd });
  await watching.until(/the mailbox is watched/);
  return watching;
}

test.concurrent("while run reads the mailbox, the gateway waits with a reason; it takes over after run ends", async ({
  room,
  onTestFinished,
}) => {
  const directory = temporaryDirectory();
  const watching = await startRun(room, directory, onTestFinished);
  await room.launch(section, { directory });
  await room.state("paused");
  expect((await room.status())?.reason).toBe(
    `\`webhooks gmail run\` reads this mailbox (process ${watching.child.pid}).`,
  );
  watching.child.kill("SIGTERM");
  await watching.finished;
  await room.state("ok", 5_000);
  room.google.mailbox.deliver({ subject: "Minutes" });
  await room.arrived(1);
});

test.concurrent("the gateway takes over from a killed process when its lease ends; the owner gets no notice", async ({
  room,
  onTestFinished,
}) => {
  const directory = temporaryDirectory();
  const watching = await startRun(room, directory, onTestFinished);
  let ahead = 0;
  const push = { audience: "https://gateway.example.org/mail", serviceAccount: "push@mail-project-1.test" };
  await room.launch({ mode: "push", push }, { directory, now: () => Date.now() + ahead });
  await room.state("paused");
  const post = async () =>
    (await fetch(`${room.gateway().gateway.url}/plugins/mail/gmail/${room.google.address}`, { method: "POST" })).status;
  // Google posts the notice again, until this gateway reads the mailbox.
  expect(await post()).toBe(503);
  watching.child.kill("SIGKILL");
  await watching.finished;
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(await room.status()).toMatchObject({ state: "paused" });
  ahead = 31_000;
  await room.state("ok", 5_000);
  expect(await post()).toBe(401);
  expect(room.chat().sent).toEqual([]);
});
