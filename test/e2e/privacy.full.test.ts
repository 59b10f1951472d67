/**
 * A person asks what is kept of them, and to be forgotten; conversations are saved and deleted, and end with their
 * time.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { programCommand } from "../../core/contract/command.ts";
import botchat from "../../plugins/botchat/index.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { createEngine, createLoopback, startGateway } from "../support/gateway.ts";
import { kitchen } from "./conversation.ts";
import { answered, openChannel, openPlatform, people } from "./room.ts";

const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(500, 1)]);

async function open({ session = {} }: { readonly session?: object } = {}) {
  const platform = await openPlatform({ privacy: false });
  const directory = temporaryDirectory();
  const [ada = 0, bela = 0] = people(platform);
  const { gateway, configFile } = await startGateway({
    directory,
    plugins: [botchat, createEngine((turn) => `heard ${turn.inbound.text.replace("@e2e_bot ", "")}`)],
    config: {
      agents: { defaults: { engine: "scripted" } },
      session,
      channels: { botchat: openChannel(platform, { groupPolicy: "open", streamMode: "off", allowFrom: ["*", ada] }) },
    },
  });
  onTestFinished(async () => {
    await gateway.close();
    removeDirectory(directory);
  });
  const state = gateway.stateDirectory;
  const command = (...args: readonly string[]) =>
    run([...args, "--config", configFile, "--state", state], { home: temporaryHome(), env: { TMP: directory } });
  const idle = () =>
    expect
      .poll(async () => (await command("status")).out, { interval: 100 })
      .toContain("0 waiting, 0 running, 0 to be sent");
  const inDatabase = (text: string) =>
    ["state.db", "state.db-wal"].some(
      (name) => existsSync(join(state, name)) && readFileSync(join(state, name)).includes(text),
    );
  return { platform, directory, state, gateway, ada, bela, command, idle, inDatabase };
}

const mention = "@e2e_bot";

async function talk(place: Awaited<ReturnType<typeof open>>): Promise<void> {
  const { platform, ada, bela } = place;
  platform.act.say(ada, ada, "my secret is strawberries", {
    media: { kind: "photo", bytes: png, fileName: "a.png", mimeType: "image/png" },
  });
  await answered(platform, ada, "my secret is strawberries");
  platform.act.say(bela, bela, "mine is apples");
  await answered(platform, bela, "heard mine is apples");
  // Said in a group, not to the bot: told to it with what Bela asks next.
  platform.act.say(ada, kitchen, "raspberries for everybody");
  platform.act.say(bela, kitchen, "pears are fine");
  platform.act.say(bela, kitchen, `${mention} what fruit`, {
    entities: [{ type: "mention", offset: 0, length: mention.length }],
  });
  await answered(platform, kitchen, "heard what fruit");
  platform.act.say(ada, kitchen, `${mention} blackberries`, {
    entities: [{ type: "mention", offset: 0, length: mention.length }],
  });
  await answered(platform, kitchen, "heard blackberries");
  await place.idle();
}

test("all data of a person is exported and erased, with a report of what remains; nothing of another", async () => {
  const place = await open();
  const { ada, bela, command, state } = place;
  await talk(place);
  await command(
    "message",
    "send",
    "--channel",
    "botchat",
    "--target",
    String(ada),
    "--message",
    "gooseberries for you",
  );
  const media = () => readdirSync(join(state, "botchat", "default", "media"));
  expect(media()).toHaveLength(1);

  const exported = await command("privacy", "export", `botchat:${ada}`);
  const data = JSON.parse(exported.out);
  expect(data).toMatchObject({
    person: { channel: "botchat", id: String(ada) },
    settings: ["channels.botchat.allowFrom[1]"],
  });
  expect(data.events).toHaveLength(4);
  expect(data.files).toEqual([join(state, "botchat", "default", "media", media()[0] ?? "")]);
  for (const word of ["strawberries", "raspberries", "blackberries", "gooseberries", "heard media:image"])
    expect(exported.out).toContain(word);
  expect(exported.out).not.toContain("apples");

  const looked = await command("privacy", "erase", String(ada), "--dry-run");
  expect(looked).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Would erase of botchat:\d+: 4 events with their bodies, /),
  });
  expect((await command("privacy", "export", `botchat:${ada}`)).out).toContain("strawberries");

  const erased = await command("privacy", "erase", `botchat:${ada}`);
  expect(erased).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Erased of botchat:\d+: 4 events with their bodies, .*, 1 file, /),
  });
  expect(erased.out).toContain(
    "Kept:\n  The keys by which repetitions are recognised, without contents, for seven days",
  );
  expect(erased.out).toContain("it names the person at channels.botchat.allowFrom[1]");
  expect(media()).toEqual([]);
  const after = JSON.parse((await command("privacy", "export", `botchat:${ada}`)).out);
  expect(after).toMatchObject({
    events: [],
    conversations: [],
    inOtherConversations: [],
    sent: [],
    pairing: [],
    data: [],
    files: [],
  });
  const bels = (await command("privacy", "export", `botchat:${bela}`)).out;
  for (const word of ["apples", "pears", "what fruit"]) expect(bels).toContain(word);
  for (const word of ["strawberries", "raspberries", "blackberries"]) expect(bels).not.toContain(word);
  expect((await command("sessions", "show", "agent:main:main")).out).toMatch(
    /mine is apples[\s\S]*heard mine is apples/,
  );

  // A platform that hands the same message in again starts nothing, and the gateway goes on.
  place.platform.act.say(bela, bela, "still there");
  await answered(place.platform, bela, "heard still there");
  expect(erased.out).toContain("The data remains in the free space of state.db. Stop the gateway");
  await place.gateway.close();
  expect((await command("privacy", "erase", `botchat:${ada}`)).out).not.toContain("The data remains in the free space");
  for (const word of ["strawberries", "raspberries", "blackberries", "gooseberries"])
    expect({ word, found: place.inDatabase(word) }).toEqual({ word, found: false });
});

test("a person's own session is erased completely", async () => {
  const place = await open({ session: { dmScope: "per-channel-peer" } });
  const { platform, ada, command } = place;
  platform.act.say(ada, ada, "strawberries");
  await answered(platform, ada, "heard strawberries");
  platform.act.say(ada, ada, "/new");
  await place.idle();
  await expect
    .poll(async () => (await command("events", "list", "--sender", String(ada), "--json")).out)
    .toContain('"answered"');
  await place.idle();
  const { out, err } = await command("privacy", "erase", String(ada));
  expect(out + err).toContain(", 1 conversation, 0 messages in others, ");
  expect((await command("sessions", "list")).out).not.toContain(`dm:${ada}`);
});

test("a session is exported with all its conversations and deleted by its full key", async () => {
  const place = await open();
  const { platform, ada, bela, command, directory } = place;
  platform.act.say(ada, ada, "the first thing");
  await answered(platform, ada, "heard the first thing");
  platform.act.say(ada, ada, "/new");
  platform.act.say(ada, ada, "the second thing");
  await answered(platform, ada, "heard the second thing");
  await place.idle();
  const file = join(directory, "saved.json");
  expect(await command("sessions", "export", "main", "--out", file)).toMatchObject({
    code: 0,
    out: `4 messages of agent:main:main are in ${file}.\n`,
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    key: "agent:main:main",
    conversations: [
      { generation: 0, messages: [{ role: "user" }, { role: "assistant", content: "heard the first thing" }] },
      { generation: 1 },
    ],
  });
  expect((await command("sessions", "export", "main", "--out", file)).err).toContain(
    "cannot be written: it exists already",
  );

  expect(await command("sessions", "delete", "main")).toMatchObject({
    code: 1,
    err: expect.stringContaining(`Did you mean \`${programCommand} sessions delete agent:main:main\`?`),
  });
  expect((await command("sessions", "delete", "agent:main:main")).out).toMatch(
    new RegExp(`^agent:main:main is deleted, with 4 messages\\.\nKept: .*\`${programCommand} privacy erase\``),
  );
  expect(await command("sessions", "show", "agent:main:main")).toMatchObject({ code: 1 });
  platform.act.say(bela, bela, "after it");
  await answered(platform, bela, "heard after it");
  expect((await command("sessions", "show", "agent:main:main")).out).not.toContain("thing");
});

test("turns older than state.retention.transcripts are deleted at run time; newer ones stay complete", async () => {
  const dayMs = 86_400_000;
  const clock = { at: Date.now() - 40 * dayMs };
  const directory = temporaryDirectory();
  const chat = createLoopback();
  const timers = vi.spyOn(globalThis, "setInterval");
  const config = (retention: object) => ({
    gateway: { port: 0 },
    state: { dir: "state", retention },
    agents: { defaults: { engine: "scripted" } },
    channels: { loopback: { enabled: true, dmPolicy: "open", allowFrom: ["*"] } },
  });
  const started = await startGateway({
    directory,
    plugins: [chat.plugin, createEngine((turn) => `heard ${turn.inbound.text}`)],
    config: config({}),
    gateway: { now: () => clock.at },
  });
  onTestFinished(async () => {
    timers.mockRestore();
    await started.gateway.close();
    removeDirectory(directory);
  });
  const prune = timers.mock.calls.find(([, ms]) => ms === 600_000)?.[0] as () => void;
  const say = async (text: string) => await started.settled(await chat.say(text));
  const shown = async () =>
    (await run(["sessions", "show", "last", "--limit", "0", "--config", started.configFile], { home: temporaryHome() }))
      .out;
  await say("old");
  clock.at += 30 * dayMs;
  await say("young");
  clock.at += 10 * dayMs;

  prune();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await shown()).toMatch(/heard old[\s\S]*heard young/);
  writeFileSync(started.configFile, JSON.stringify(config({ transcripts: "35d" })));
  await expect.poll(() => started.gateway.config().state.retention.transcripts).toBe("35d");
  prune();
  await expect.poll(shown).not.toContain("heard old");
  expect(await shown()).toMatch(/young\n[\s\S]*heard young/);
});
