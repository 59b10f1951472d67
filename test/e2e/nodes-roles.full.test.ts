/** What two nodes of one store do for each other: whichever node is asked, the answer is the same. */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Chance } from "../../plugins/playground/platform/index.ts";
import { start } from "../core/cli/command.ts";
import { type Answer, callTools, say } from "../openai-server/answers.ts";
import { usePostgres } from "../support/postgres.ts";
import {
  answered,
  answers,
  createNodeGroup,
  hookToken,
  type Node,
  type NodeGroup,
  personOf,
  postHook,
  startPair,
} from "./node-group.ts";

const database = usePostgres();
const ends: (() => void | Promise<void>)[] = [];
let group: NodeGroup;
/** The node that receives for the bot, and the other one. */
let holder: Node;
let other: Node;

beforeAll(async () => {
  const hooks = {
    enabled: true,
    token: hookToken,
    allowRequestSessionKey: true,
    allowedSessionKeyPrefixes: ["agent:main:"],
  };
  const channel = {
    dmPolicy: "pairing",
    allowFrom: ["1001", "1002"],
    limits: { perBotPerSecond: 0, perChatPerSecond: 0 },
  };
  const agents = { defaults: { model: "local/test-model", heartbeat: { every: "0" }, tools: { approve: ["send"] } } };
  group = await createNodeGroup(database, (end) => void ends.push(end), { hooks, channel, agents });
  [holder, other] = await startPair(group);
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** The sum of the requests that the model has received. */
const asked = () => group.model.requests.length;

// Again where the machine had other work.
test("/stop ends a turn on another node within 500 ms and confirms it", { retry: 3 }, async () => {
  const { platform, model } = group;
  const ada = personOf(platform);
  model.script(say("one two three", { delayMs: 20_000 }));
  const before = asked();
  const quietly = { wakeMode: "next-heartbeat" };
  await postHook(other, "agent", {
    message: "write a long text",
    deliver: true,
    channel: "botchat",
    to: String(ada),
    ...quietly,
  });
  await expect.poll(asked).toBe(before + 1);
  // It runs on the node that accepted it, which is not the one that receives the command.
  expect(await runningOn(other)).toBe(1);
  const gone = model.requests.at(-1)?.gone.then(() => performance.now());
  platform.act.say(ada, ada, "/stop");
  const toldAt = performance.now();
  expect((await gone) ?? Number.POSITIVE_INFINITY).toBeLessThan(toldAt + 500);
  await answered(platform, ada, "Stopped.");
  platform.act.say(ada, ada, "/stop");
  await answered(platform, ada, "Nothing is running here.");
});

test("/status shows a turn of this session on another node and counts the turns of all nodes", async () => {
  const { platform, model } = group;
  const ada = personOf(platform);
  model.script(say("slow", { firstDelayMs: 2_500 }));
  const before = asked();
  const body = { message: "take your time", sessionKey: "agent:main:main", deliver: false, wakeMode: "next-heartbeat" };
  expect((await postHook(other, "agent", body)).status).toBe(202);
  await expect.poll(asked).toBe(before + 1);
  expect(await runningOn(other)).toBe(1);
  platform.act.say(ada, ada, "/status");
  await answered(platform, ada, /Now: answering for \d+ s, 1 running in total/);
  await expect.poll(() => runningOn(other)).toBe(0);
  platform.act.say(ada, ada, "/status");
  await answered(platform, ada, /Now: idle, 0 running in total/);
});

test("turns of one session on two nodes never overlap, and each reads what the others wrote", async () => {
  const { platform, model } = group;
  const [ada, bela] = [personOf(platform), personOf(platform, 1)];
  let running = 0;
  let most = 0;
  const numbers = [1, 2, 3, 4, 5];
  model.script(
    ...numbers.map(
      (number): Answer =>
        async (exchange) => {
          running += 1;
          most = Math.max(most, running);
          await say("noted", { firstDelayMs: number === 1 ? 1_000 : 200 })(exchange);
          running -= 1;
        },
    ),
  );
  const before = asked();
  const post = async (node: Node, number: number) => {
    const { status } = await postHook(node, "agent", {
      ...{ message: `message ${number}`, sessionKey: "agent:main:main" },
      ...{ deliver: false, wakeMode: "next-heartbeat" },
    });
    expect(status).toBe(202);
  };
  platform.act.say(ada, ada, "message 1");
  await expect.poll(asked).toBe(before + 1);
  await post(other, 2);
  await expect.poll(() => runningOn(other)).toBe(1);
  platform.act.say(bela, bela, "message 3");
  await expect.poll(() => runningOn(holder)).toBe(2);
  await post(holder, 4);
  await post(other, 5);
  await expect.poll(asked).toBe(before + numbers.length);
  await expect.poll(() => running).toBe(0);
  expect(most).toBe(1);
  // Each request contains the messages of all earlier ones, in their order, and its own at the end.
  const seen = model.requests
    .slice(before)
    .map(({ body }) => [...new Set(JSON.stringify(body.messages).match(/message \d/g))]);
  expect(seen.map(({ length }) => length)).toEqual(numbers);
  expect(seen.at(-1)?.toSorted()).toEqual(numbers.map((number) => `message ${number}`));
  for (const [index, each] of seen.entries()) expect(seen[index + 1]?.slice(0, -1) ?? each).toEqual(each);
});

test("a turn that waits for an approval lets others of its session run on another node, then resumes", async () => {
  const { platform, model } = group;
  const ada = personOf(platform);
  model.script(callTools([{ name: "send", args: { text: "hello" } }]), say("from the other node"), say("back again"));
  const before = asked();
  platform.act.say(ada, ada, "send a greeting");
  await answered(platform, ada, /asks to use send/);
  const message = { message: "meanwhile", sessionKey: "agent:main:main", deliver: false, wakeMode: "next-heartbeat" };
  expect((await postHook(other, "agent", message)).status).toBe(202);
  await expect.poll(asked).toBe(before + 2);
  await expect.poll(() => runningOn(other)).toBe(0);
  const question = answers(platform, ada).findLast((text) => text.includes("asks to use send")) ?? "";
  platform.act.say(ada, ada, `/deny ${/[A-Z2-9]{8}/.exec(question)?.[0]}`);
  await answered(platform, ada, "back again");
  expect(asked()).toBe(before + 3);
});

test("a sender approved or removed on one node is recognized by the other at once", async () => {
  const { platform } = group;
  const carol = personOf(platform, 2);
  platform.act.say(carol, carol, "let me in");
  await answered(platform, carol, /[A-Z2-9]{8}/);
  const code = /[A-Z2-9]{8}/.exec(answers(platform, carol).join())?.[0] ?? "";
  // The node that is asked does not receive for the bot, and the other one announces the approval.
  expect(await other.command("pairing", "approve", "botchat", code)).toMatchObject({ code: 0 });
  platform.act.say(carol, carol, "is the door open?");
  await answered(platform, carol, /is the door open\?$/);
  expect(await other.command("pairing", "revoke", "botchat", String(carol))).toMatchObject({ code: 0 });
  const count = answers(platform, carol).length;
  platform.act.say(carol, carol, "and now?");
  await expect.poll(() => answers(platform, carol).slice(count)).toEqual([expect.stringMatching(/[A-Z2-9]{8}/)]);
});

test("a device invited by one node and paired with another has access to both until it is revoked", async () => {
  const { platform } = group;
  const ada = personOf(platform);
  platform.act.say(ada, ada, "/pair");
  await answered(platform, ada, /\/devices\/pair/);
  const code = /[A-Z2-9]{8}/.exec(answers(platform, ada).join("\n"))?.[0] ?? "";
  const asked = await fetch(`${other.url()}/devices/pair`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, name: "Laptop" }),
  });
  const { id, secret } = (await asked.json()) as { readonly id: string; readonly secret: string };
  platform.act.say(ada, ada, "/pair approve");
  await answered(platform, ada, /Laptop/);
  const collected = await fetch(`${other.url()}/devices/pair/${id}`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  const { token } = (await collected.json()) as { readonly token: string };
  const opened = () =>
    Promise.all(
      [holder, other].map(
        async (node) =>
          (await fetch(`${node.url()}/gateway/describe`, { headers: { authorization: `Bearer ${token}` } })).status,
      ),
    );
  expect(await opened()).toEqual([200, 200]);
  expect(await holder.command("devices", "revoke", id)).toMatchObject({ code: 0 });
  expect(await opened()).toEqual([401, 401]);
});

test("any node can send messages and follow and explain events", async () => {
  const { platform } = group;
  const ada = personOf(platform);
  const sent = await other.command(
    "message",
    "send",
    "--target",
    String(ada),
    "--message",
    "from the other node",
    "--json",
  );
  expect(JSON.parse(sent.out)).toMatchObject({ ok: true, chatId: String(ada), messageId: expect.any(String) });
  expect(answers(platform, ada)).toContain("from the other node");

  const env = { DATABASE_URL: group.url };
  const following = start(["events", "list", "--follow", "--json", "--config", other.file], { home: other.home, env });
  await following.until(/"id"/);
  const answer = await postHook(holder, "agent", { message: "followed", deliver: false, wakeMode: "next-heartbeat" });
  const { runId, eventId } = (await answer.json()) as { readonly runId: string; readonly eventId: string };
  await following.until(new RegExp(eventId));
  expect((await other.command("why", eventId)).out).toMatch(/^silent/);
  const looked = await fetch(`${other.url()}/hooks/runs/${runId}`, {
    headers: { authorization: `Bearer ${hookToken}`, prefer: "wait=10" },
  });
  expect(await looked.json()).toMatchObject({ runId, outcome: "silent" });
});

/** Sends a file of this size to a chat, by a node that does not receive for the bot. */
function sendFile(chat: number, bytes: number) {
  const file = join(other.home, `${bytes}.bin`);
  writeFileSync(file, randomBytes(bytes));
  return other.command("message", "send", "--target", String(chat), "--media", file, "--json");
}

/** Files that a node has stored for messages. */
const storedFiles = (node: Node): number => {
  const directory = join(node.home, "state", "botchat", "default", "media");
  return existsSync(directory) ? readdirSync(directory).length : 0;
};

test("a small file of a reply is passed to the sending node; a large one is sent by the node that has it", async () => {
  const ada = personOf(group.platform);
  expect(JSON.parse((await sendFile(ada, 1_000)).out)).toMatchObject({ ok: true });
  expect(storedFiles(holder)).toBe(1);
  expect(JSON.parse((await sendFile(ada, 1_048_576)).out)).toMatchObject({ ok: true });
  expect(storedFiles(holder)).toBe(1);
  const room = [...group.platform.world.rooms.values()].find(({ chat }) => chat.id === ada);
  const sizes = [...(room?.messages.values() ?? [])].flatMap(({ document }) => document?.file_size ?? []);
  expect(sizes).toEqual([1_000, 1_048_576]);
  await expect
    .poll(() => database.query(group.url, "SELECT key FROM $schema.kv WHERE namespace = 'reply-files'"))
    .toEqual([]);
});

test("a message waits for a large file on a lost node and fails after ten minutes as file_lost", async () => {
  const { platform } = group;
  const ada = personOf(platform);
  const unavailable: Chance = (method) =>
    method.toLowerCase() === "senddocument" ? { kind: "status", status: 502 } : undefined;
  platform.faults.leaveTo(unavailable);
  const before = await group.ended();
  void sendFile(ada, 1_048_577);
  await expect.poll(() => database.query(group.url, "SELECT id FROM $schema.outbox WHERE state < 2")).toHaveLength(1);
  other.process.child.kill("SIGKILL");
  await other.process.finished;
  platform.faults.leaveTo(undefined);
  await group.endLease("two");
  const [event] = await database.query(group.url, "SELECT event_id AS id FROM $schema.units WHERE state < 2");
  // The holder has taken the unit away, and leaves it to the node that has the file.
  await expect.poll(() => database.query(group.url, "SELECT id FROM $schema.units WHERE state = 0")).toHaveLength(1);
  platform.act.say(ada, ada, "/whoami");
  await answered(platform, ada, /1001/);
  expect(await database.query(group.url, "SELECT id FROM $schema.units WHERE state = 0")).toHaveLength(1);
  await database.query(
    group.url,
    "UPDATE $schema.nodes SET lease_until = clock_timestamp() - interval '601 seconds' WHERE node = 'two'",
  );
  await expect.poll(() => group.ended()).toBe(before + 2);
  const why = await holder.command("why", String(event?.id));
  expect(why.out).toMatch(/^failed/);
  expect(why.out).toContain("part 1 has a file of node two, which has been away for ten minutes");
});

/** Number of units that a node runs. */
async function runningOn({ name }: Node): Promise<number> {
  const sql =
    "SELECT count(*)::int AS units FROM $schema.units u JOIN $schema.nodes n ON n.fence = u.fence " +
    `WHERE u.state = 1 AND n.node = '${name}'`;
  const [row] = await database.query(group.url, sql);
  return Number(row?.units);
}
