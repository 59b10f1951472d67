/** A wall clock that jumps while people write: no chat stands still, and nothing is lost or answered twice. */
import { aroundEach, test } from "vitest";
import type { Inbound } from "../../core/sdk/contract.ts";
import botchat from "../../plugins/botchat/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { createEngine, startGateway } from "../support/gateway.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { endsOf } from "./conversation.ts";
import { answers, hookToken, openChannel, openPlatform, people, postHook } from "./room.ts";

aroundEach(inOwnTest);

const hour = 3_600_000;
const photo = (name: string) => ({
  kind: "photo" as const,
  bytes: Buffer.from(name),
  fileName: `${name}.png`,
  mimeType: "image/png",
});

test.concurrent.each([
  ["two hours back", -2 * hour],
  ["two hours forward", 2 * hour],
])("a clock change of %s does not affect an album, a split text or a 429 in progress", async (_where, jump) => {
  const clock = { off: 0 };
  const platform = await openPlatform();
  const directory = temporaryDirectory();
  onTestFinished(() => removeDirectory(directory));
  const turns: Inbound[] = [];
  const engine = createEngine(({ inbound }) => {
    turns.push(inbound);
    return `heard ${inbound.media.length} files and ${inbound.text.length} characters`;
  });
  const [ada = 0, bela = 0, chen = 0] = people(platform);
  const limits = { perBotPerSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 20 };
  const { gateway } = await startGateway({
    directory,
    config: {
      agents: { defaults: { engine: "scripted" } },
      session: { dmScope: "per-peer" },
      channels: { botchat: openChannel(platform, { streamMode: "off", limits }) },
    },
    plugins: [botchat, engine],
    gateway: { now: () => Date.now() + clock.off },
  });
  onTestFinished(() => gateway.close());
  const { act } = platform;
  platform.faults.add({ method: "sendMessage", times: 1, kind: "flood", retryAfter: 2 });
  act.say(chen, chen, "hello");
  await expect.poll(() => platform.calls.list({ method: "sendMessage" }).length).toBe(1);
  act.say(ada, ada, "", { media: photo("one"), album: "garden" });
  act.say(bela, bela, "b".repeat(4_096));
  await expect.poll(() => platform.pending()).toBe(0);
  clock.off = jump;
  act.say(ada, ada, "", { media: photo("two"), album: "garden" });
  act.say(bela, bela, "b".repeat(100));
  const said = (person: number) => expect.poll(() => answers(platform, person));
  await said(chen).toEqual(["heard 0 files and 5 characters"]);
  await said(bela).not.toEqual([]);
  await said(ada).not.toEqual([]);
  for (const person of [ada, bela, chen]) act.say(person, person, "still there?");
  for (const person of [ada, bela, chen]) await said(person).toContain("heard 0 files and 12 characters");
  await expect.poll(() => endsOf(directory)).toEqual(Array(8).fill("answered answered"));
  expect(turns.reduce((files, { media }) => files + media.length, 0)).toBe(2);
  expect(turns.reduce((characters, { text }) => characters + (text.match(/b/g)?.length ?? 0), 0)).toBe(4_196);
});

test.concurrent("a locked-out client stays locked out for exactly its minute when the wall clock changes", async () => {
  const directory = temporaryDirectory();
  onTestFinished(() => removeDirectory(directory));
  const clock = { off: 0, elapsed: 1_000 };
  const { gateway } = await startGateway({
    directory,
    config: { hooks: { enabled: true, token: hookToken } },
    gateway: { now: () => Date.now() + clock.off, elapsed: () => clock.elapsed },
  });
  onTestFinished(() => gateway.close());
  const guess = async () => (await postHook(gateway.url, "wake", { text: "x" }, "a-wrong-token")).status;
  for (let count = 0; count < 20; count += 1) expect(await guess()).toBe(401);
  expect(await guess()).toBe(429);
  for (const off of [-7_200_000, 365 * 86_400_000]) {
    clock.off = off;
    expect(await guess(), `set by ${off} ms`).toBe(429);
  }
  clock.elapsed += 60_000;
  expect(await guess()).toBe(401);
});
