/**
 * A state directory as an earlier version left it: `test/fixtures/state-before-rooms`, written by commit 3314981 and
 * copied after a kill. In it, Ada and Bela have talked to the bot, Bela after pairing, a webhook was delivered, and two
 * messages of Ada's wait for their reply.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import {
  answered,
  answers,
  hookToken,
  openChannel,
  openPlatform,
  people,
  postHook,
  startGatewayProcess,
  stop,
} from "./room.ts";

const fixture = join(import.meta.dirname, "..", "fixtures", "state-before-rooms");

/** A home whose gateway was last run by the earlier version. */
function earlierHome(): string {
  const home = temporaryHome();
  const state = join(home, "state");
  mkdirSync(state, { mode: 0o700 });
  cpSync(fixture, state, { recursive: true });
  for (const file of ["state.db", "state.db-wal"]) {
    writeFileSync(join(state, file), gunzipSync(readFileSync(join(state, `${file}.gz`))), { mode: 0o600 });
    rmSync(join(state, `${file}.gz`));
  }
  return home;
}

test("the state of an earlier version opens without loss, and its waiting messages are answered once", {
  timeout: 60_000,
}, async () => {
  const platform = await openPlatform();
  const [ada = 0, bela = 0] = people(platform);
  // The chats have to be there. These updates carry numbers that the earlier version has received, so they are
  // repetitions.
  for (const person of [ada, bela]) platform.act.say(person, person, "before");
  const home = earlierHome();
  const mapping = {
    match: { path: "deploy" },
    name: "Deploy",
    messageTemplate: "Version {{ version }} is live.",
    sessionKey: "hook:deploy",
  };
  const gateway = await startGatewayProcess(
    {
      channels: { botchat: openChannel(platform, { dmPolicy: "pairing", allowFrom: [ada] }) },
      hooks: { enabled: true, token: hookToken, mappings: [{ ...mapping, channel: "botchat", to: String(ada) }] },
    },
    { home },
  );
  const asked = async (...args: readonly string[]) =>
    JSON.parse((await run([...args, "--config", gateway.file, "--json"], { home })).out);

  await answered(platform, ada, "and then this");
  expect(answers(platform, ada)).toEqual(["Here I am. Thank you for waiting.", "and then this"]);

  const { sessions } = (await asked("sessions", "list")) as { readonly sessions: readonly { readonly key: string }[] };
  expect(sessions.map(({ key }) => key)).toEqual(expect.arrayContaining(["hook:deploy"]));
  const told = await run(
    ["sessions", "show", sessions.find(({ key }) => key.includes("main"))?.key ?? "", "--config", gateway.file],
    {
      home,
    },
  );
  expect(told.out).toContain("good morning");
  expect(told.out).toContain("and then this");

  const { deliveries } = (await asked("hooks", "deliveries")) as {
    readonly deliveries: readonly { readonly id: string }[];
  };
  expect(deliveries).toHaveLength(1);
  expect((await run(["why", deliveries[0]?.id ?? "", "--config", gateway.file], { home })).out).toMatch(/^answered/);
  expect((await postHook(gateway.url, "deploy", { version: "1.2.4" })).status).toBe(202);
  await answered(platform, ada, "Version 1.2.4 is live.");

  // What this platform counts from the start again was received by the earlier version: it is a repetition until the
  // numbers are new.
  for (let count = 0; count < 12; count += 1) platform.act.say(bela, bela, `old ${count}`);
  platform.act.say(bela, bela, "still paired?");
  await answered(platform, bela, "still paired?");
  await stop(gateway);
});
