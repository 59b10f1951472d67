/**
 * State directories as earlier versions left them.
 *
 * `test/fixtures/state-before-rooms` was written by commit 3314981 and copied after a kill. In it, Ada and Bela have
 * talked to the bot, Bela after pairing, a webhook was delivered, and two messages of Ada's wait for their reply.
 *
 * `test/fixtures/state-before-summaries` was written by commit a7b78edc. In it, Ada has sent sixty messages of 1,500
 * characters, each with a fact such as `FACT-12=blue`; all were answered.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { createCountingServer, isSummaryRequest } from "../openai-server/counting.ts";
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

/** A home whose gateway was last run by the earlier version. */
function earlierHome(fixture: string): string {
  const home = temporaryHome();
  const state = join(home, "state");
  mkdirSync(state, { mode: 0o700 });
  cpSync(join(import.meta.dirname, "..", "fixtures", fixture), state, { recursive: true });
  for (const file of readdirSync(state).filter((name) => name.endsWith(".gz"))) {
    const packed = join(state, file);
    writeFileSync(packed.slice(0, -".gz".length), gunzipSync(readFileSync(packed)), { mode: 0o600 });
    rmSync(packed);
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
  const home = earlierHome("state-before-rooms");
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

test("a conversation of an earlier version that is too long for its model goes on, and nothing of it is lost", {
  timeout: 60_000,
}, async () => {
  const platform = await openPlatform();
  const [ada = 0] = people(platform);
  const model = await createCountingServer({ room: 16_000 });
  onTestFinished(() => model.close());
  // The earlier version has received updates with these numbers.
  for (let count = 0; count < 60; count += 1) platform.act.say(ada, ada, "before");
  const gateway = await startGatewayProcess(
    {
      models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
      agents: { defaults: { model: "local/small", tools: { allow: [] }, heartbeat: { every: "0" } } },
      channels: { botchat: openChannel(platform, { streamMode: "off" }) },
    },
    { home: earlierHome("state-before-summaries") },
  );
  platform.act.say(ada, ada, "Where were we?");
  await answered(platform, ada, "FACT-60=blue");
  const shown = async () =>
    JSON.parse(
      (await run(["sessions", "show", "last", "--json", "--limit", "0", "--config", gateway.file], gateway)).out,
    );
  await expect.poll(async () => (await shown()).summaries.length).toBe(1);
  platform.act.say(ada, ada, "What do you know?");
  await answered(platform, ada, "I know 60 facts: FACT-1=blue");
  expect(answers(platform, ada)).toHaveLength(2);
  // The earlier version did not know how much the model takes.
  expect([model.refused.length, model.requests.filter(({ body }) => isSummaryRequest(body)).length > 1]).toEqual([
    1,
    true,
  ]);
  platform.act.say(ada, ada, "/status");
  await answered(platform, ada, / of 16,000 tokens, 1 summary/);
  const { transcript } = (await shown()) as { readonly transcript: readonly { readonly role: string }[] };
  expect(transcript.filter(({ role }) => role === "user")).toHaveLength(62);
  await stop(gateway);
});
