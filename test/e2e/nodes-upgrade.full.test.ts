/**
 * An upgrade of two nodes, one at a time, under load. The program before and after is the same, because only one is at
 * hand; what an earlier version leaves in the database, and calls there, is tested with the store.
 */
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { migrate, migrations } from "../../plugins/store-postgres/migrations.ts";
import { openDatabase } from "../../plugins/store-postgres/pool.ts";
import { say } from "../openai-server/answers.ts";
import { usePostgres } from "../support/postgres.ts";
import {
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

/** Ends a node as an operator does, and starts it again with its name and its directory. */
async function replace(group: NodeGroup, { name, home, process }: Node): Promise<Node> {
  process.child.kill("SIGTERM");
  expect(await process.finished).toMatchObject({ code: 0 });
  return await group.node(name, { home });
}

/** Posts like a sender behind a proxy: to the first node that accepts, the same delivery again if none does. */
async function deliver(nodes: () => readonly Node[], number: number): Promise<void> {
  const body = { message: `hook ${number}`, sessionKey: "hook:all", deliver: false, wakeMode: "next-heartbeat" };
  for (;;) {
    for (const node of nodes()) {
      const answer = await postHook(node, "agent", body, { "idempotency-key": `delivery ${number}` }).catch(
        () => undefined,
      );
      if (answer?.status === 202) return;
    }
    await pause(20);
  }
}

test("replacing two nodes in sequence loses, repeats and reorders nothing; the bot keeps answering", async () => {
  const group = await createNodeGroup(database, onTestFinished, {
    channel: { limits: { perBotPerSecond: 0, perChatPerSecond: 0 }, polling: { timeoutSeconds: 1 } },
    // The summaries of the webhooks wait for the main session, which no chat shares.
    session: { dmScope: "per-peer" },
    hooks: { enabled: true, token: hookToken, allowRequestSessionKey: true, allowedSessionKeyPrefixes: ["hook:"] },
  });
  const { platform, model } = group;
  const first = openDatabase(group.url, "test");
  await migrate(first, migrations.slice(0, 1));
  await first.close();
  let nodes: readonly Node[] = await startPair(group);
  let under = true;
  let longestWaitMs = 0;
  let accepted = 0;

  async function talk(person: number): Promise<number> {
    for (let number = 1; ; number += 1) {
      if (!under) return number - 1;
      const askedAt = performance.now();
      platform.act.say(person, person, `message ${number}`);
      while (answers(platform, person).length < number) await pause(10);
      longestWaitMs = Math.max(longestWaitMs, performance.now() - askedAt);
    }
  }
  async function post(): Promise<number> {
    for (let number = 1; ; number += 1) {
      if (!under) return number - 1;
      await deliver(() => nodes, number);
      accepted = number;
      await pause(20);
    }
  }
  /** Resolves when some more webhooks were accepted, however long this machine takes. */
  async function meanwhile(): Promise<void> {
    const before = accepted;
    await expect.poll(() => accepted).toBeGreaterThan(before + 10);
  }
  const people = [personOf(platform), personOf(platform, 1)];
  const load = Promise.all([post(), ...people.map(talk)]);
  await meanwhile();
  for (const [index, node] of nodes.entries()) {
    const replaced = await replace(group, node);
    nodes = nodes.with(index, replaced);
    await meanwhile();
  }
  under = false;
  const [posted, ...said] = await load;

  await expect
    .poll(
      async () =>
        await database.query(
          group.url,
          "SELECT count(*)::int AS open FROM $schema.inbox WHERE state < 4 AND due IS NOT NULL",
        ),
    )
    .toEqual([{ open: 0 }]);
  for (const [index, person] of people.entries()) {
    const numbers = answers(platform, person).map((text) => Number(/message (\d+)$/.exec(text)?.[1]));
    expect(numbers).toEqual(Array.from({ length: said[index] ?? 0 }, (_, at) => at + 1));
  }
  const hooks = model.requests.flatMap(({ body }) => {
    const number = /hook (\d+)/.exec(JSON.stringify(body.messages.at(-1)))?.[1];
    return number === undefined ? [] : [Number(number)];
  });
  expect(hooks).toEqual(Array.from({ length: posted }, (_, at) => at + 1));
  expect(posted).toBeGreaterThan(20);
  // Neither refused nor failed.
  expect(await database.query(group.url, "SELECT id FROM $schema.inbox WHERE state > 5")).toEqual([]);
  // The bot changes its node at a clean stop, without waiting for a lease.
  expect(longestWaitMs).toBeLessThan(10_000);
});

test("a node that slept through an incompatible change exits with a message on wake and sends nothing", async () => {
  const group = await createNodeGroup(database, onTestFinished);
  const { platform, model } = group;
  const ada = personOf(platform);
  const node = await group.node("one");
  await node.process.until(/channel connected/);
  model.script(say("too late", { firstDelayMs: 1_500 }));
  platform.act.say(ada, ada, "question");
  await expect.poll(() => model.requests.length).toBe(1);
  node.process.child.kill("SIGSTOP");
  await group.endLease("one");
  const newer = openDatabase(group.url, "test");
  await migrate(newer, [
    ...migrations,
    { sql: "ALTER TABLE units ADD COLUMN added text", oldest: migrations.length + 1 },
  ]);
  await newer.close();
  node.process.child.kill("SIGCONT");
  const { code, err } = await node.process.finished;
  expect(code).toBe(1);
  expect(err).toContain("The state in the database was written by a newer version");
  expect(answers(platform, ada)).toEqual([]);
});
