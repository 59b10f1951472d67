/**
 * A group that becomes a supergroup: its place in the configuration, its conversation and its pending work go along.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createGateway } from "../../core/gateway/gateway.ts";
import type { EngineTurn } from "../../core/sdk/contract.ts";
import botchat from "../../plugins/botchat/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { createEngine } from "../support/gateway.ts";
import { answers, openChannel, openPlatform, people } from "./room.ts";

const oldId = -77;

const talkative = `// where we cook
      "${oldId}": { "requireMention": false /* everything is meant for it */ }`;

async function prepare({
  channel = {},
  more = "",
  groups = talkative,
}: {
  readonly channel?: object;
  readonly more?: string;
  readonly groups?: string;
} = {}) {
  const platform = await openPlatform({ privacy: false });
  platform.world.addGroup({ id: oldId, type: "group", title: "Small" });
  const directory = temporaryDirectory();
  const file = join(directory, "config.jsonc");
  const options = JSON.stringify(
    openChannel(platform, { streamMode: "off", groupPolicy: "open", ...channel }),
    null,
    2,
  );
  writeFileSync(
    file,
    `{
  "gateway": { "port": 0, "drainSeconds": 2 },
  "state": { "dir": "state" },
  "agents": { "defaults": { "engine": "scripted" }, "list": [{ "id": "main", "default": true }, { "id": "cook" }] },
  ${more}
  "channels": { "botchat": {
    "groups": {
      ${groups}
    },
    ${options.slice(1, -1)}
  } }
}
`,
  );
  const turns: EngineTurn[] = [];
  const gate = { open: Promise.resolve(), shown: "" };
  const engine = createEngine(async function* (turn) {
    turns.push(turn);
    if (gate.shown !== "") yield { type: "text", delta: gate.shown } as const;
    await gate.open;
    yield { type: "text", delta: `answer ${turns.length}` } as const;
    yield { type: "done" } as const;
  });
  onTestFinished(() => removeDirectory(directory));
  const [ada = 0] = people(platform);
  return {
    platform,
    ada,
    file,
    turns,
    gate,
    log: () => readFileSync(join(directory, "state", "logs", "gateway.log"), "utf8"),
    async start() {
      const gateway = await createGateway({
        configFile: file,
        environment: {},
        bundled: false,
        plugins: [botchat, engine],
      });
      onTestFinished(() => gateway.close());
      return gateway;
    },
  };
}

const soon = { interval: 30 };

test("the group's key in the file is renamed with its comments; the conversation gets the new id", async () => {
  const place = await prepare({
    more:
      `"bindings": [{ "agentId": "cook", "match": { "channel": "botchat", "peer": { "kind": "group", ` +
      `"id": "${oldId}" } } }],`,
  });
  const { platform, ada, turns } = place;
  const first = await place.start();
  platform.act.say(ada, oldId, "we need salt");
  await expect.poll(() => answers(platform, oldId), soon).toEqual(["answer 1"]);
  const answer =
    [...(platform.world.group(oldId)?.messages.values() ?? [])].find(({ from }) => from.is_bot)?.message_id ?? 0;
  platform.act.setMember(oldId, platform.world.bots[0]?.user.id ?? 0, "administrator");
  platform.act.react(ada, oldId, answer, ["👍"]);
  await expect.poll(() => platform.pending(), soon).toBe(0);
  const newId = platform.act.migrate(ada, oldId);
  platform.act.say(ada, newId, "what did we need?");
  await expect.poll(() => answers(platform, newId), soon).toEqual(["answer 2"]);
  const written = readFileSync(place.file, "utf8");
  expect(written).toContain(
    `// where we cook\n      "${newId}": { "requireMention": false /* everything is meant for it */ }`,
  );
  expect(written).not.toContain(`"${oldId}"`);
  expect(turns[1]).toMatchObject({ agentId: "cook", sessionKey: `agent:cook:botchat:group:${newId}` });
  expect(turns[1]?.messages.map(({ text }) => text).join("\n")).toContain("we need salt");
  expect(turns[1]?.messages.at(-1)?.text).toContain("Reaction added: 👍");
  // Told twice by the platform, and known to the next process.
  await first.close();
  await place.start();
  platform.act.say(ada, newId, "and now?");
  await expect.poll(() => turns[2]?.messages.length, soon).toBe(5);
  expect(place.log().match(/a group has a new id; its settings/g)).toHaveLength(1);
});

test("an answer in progress reaches the new chat, even if only the refused send reveals the move", async () => {
  const place = await prepare();
  const { platform, ada, gate } = place;
  await place.start();
  const held = Promise.withResolvers<void>();
  gate.open = held.promise;
  platform.act.say(ada, oldId, "slowly please");
  await expect.poll(() => place.turns.length, soon).toBe(1);
  platform.faults.add({
    method: "getUpdates",
    times: 100_000,
    kind: "refuse",
    status: 502,
    description: "Bad Gateway",
  });
  const newId = platform.act.migrate(ada, oldId);
  held.resolve();
  await expect.poll(() => answers(platform, newId), soon).toEqual(["answer 1"]);
  expect(answers(platform, oldId)).toEqual([]);
  expect(readFileSync(place.file, "utf8")).toContain(`"${newId}"`);
});

test("messages queued behind a turn are answered in the new chat in order", async () => {
  const place = await prepare();
  const { platform, ada, gate } = place;
  await place.start();
  const held = Promise.withResolvers<void>();
  gate.open = held.promise;
  for (const text of ["one", "two", "three"]) platform.act.say(ada, oldId, text);
  await expect.poll(() => place.turns.length, soon).toBe(1);
  const newId = platform.act.migrate(ada, oldId);
  platform.act.say(ada, newId, "four");
  await expect.poll(() => place.log(), soon).toContain("a group has a new id");
  held.resolve();
  await expect.poll(() => answers(platform, newId).length, soon).toBe(4);
  expect(place.turns.map(({ inbound }) => inbound.text).filter((text) => text !== "one")).toEqual([
    "two",
    "three",
    "four",
  ]);
  expect(answers(platform, oldId)).toEqual([]);
});

test("with configWrites off, the file is unchanged and the log says what to change", async () => {
  const place = await prepare({ channel: { configWrites: false } });
  const { platform, ada } = place;
  await place.start();
  const before = readFileSync(place.file, "utf8");
  const newId = platform.act.migrate(ada, oldId);
  platform.act.say(ada, newId, "hello?");
  await expect.poll(() => place.log(), soon).toMatch(/group_not_listed|not in .*groups/);
  expect(place.turns).toEqual([]);
  expect(readFileSync(place.file, "utf8")).toBe(before);
  expect(place.log()).toContain(`Rename this key to \\"${newId}\\"`);
  expect(place.log()).toContain(`channels.botchat.groups`);
});

test("earlier messages of the old group are shown once, with the next turn in the new group", async () => {
  const place = await prepare({ groups: `"${oldId}": {}` });
  const { platform, ada, turns } = place;
  await place.start();
  platform.act.say(ada, oldId, "salt is in the cellar");
  platform.act.say(ada, oldId, "@e2e_bot remember that");
  await expect.poll(() => answers(platform, oldId), soon).toEqual(["answer 1"]);
  platform.act.say(ada, oldId, "pepper as well");
  await expect.poll(() => platform.pending(), soon).toBe(0);
  const newId = platform.act.migrate(ada, oldId);
  platform.act.say(ada, newId, "@e2e_bot what else?");
  await expect.poll(() => answers(platform, newId), soon).toEqual(["answer 2"]);
  const asked = turns.map(({ messages }) => messages.at(-1)?.text ?? "");
  expect(asked[0]).toContain("salt is in the cellar");
  expect(asked[1]).toContain("pepper as well");
  expect(asked[1]).not.toContain("salt is in the cellar");
});

test("an answer that was growing in the old group appears completely in the new one", async () => {
  const place = await prepare({ channel: { streamMode: "partial" } });
  const { platform, ada, gate } = place;
  await place.start();
  const held = Promise.withResolvers<void>();
  gate.open = held.promise;
  gate.shown = "This is what stands there while more of it comes. ";
  platform.act.say(ada, oldId, "slowly please");
  await expect.poll(() => answers(platform, oldId).length, soon).toBe(1);
  const newId = platform.act.migrate(ada, oldId);
  await expect.poll(() => place.log(), soon).toContain("a group has a new id");
  held.resolve();
  await expect.poll(() => answers(platform, newId), soon).toEqual([`${gate.shown}answer 1`]);
});
