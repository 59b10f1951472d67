/** Two nodes of one PostgreSQL whose turns belong to the same long conversation: real processes. */
import { aroundEach, test } from "vitest";
import { createCountingServer, isSummaryRequest } from "../openai-server/counting.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { usePostgres } from "../support/postgres.ts";
import type { Shown } from "./compaction-processes.ts";
import { words } from "./compaction-room.ts";
import { createNodeGroup, hookToken, type Node, postHook } from "./node-group.ts";

aroundEach(inOwnTest);

const database = usePostgres();
const room = 16_000;

const factsIn = (text: string): readonly number[] => [...text.matchAll(/FACT-(\d+)=/g)].map(([, n]) => Number(n));
const range = (until: number) => Array.from({ length: until }, (_, index) => index + 1);

/** Turns of one conversation, on two nodes alternately, until one of them asks for a summary, which waits. */
async function openLongConversation() {
  const write = Promise.withResolvers<void>();
  const model = await createCountingServer({
    ...{ room, reply: () => "Noted." },
    beforeSummary: () => write.promise,
  });
  onTestFinished(async () => {
    write.resolve();
    await model.close();
  });
  const local = { api: "openai-compatible", baseUrl: model.url, models: { small: { contextTokens: room } } };
  const group = await createNodeGroup(database, onTestFinished, {
    hooks: { enabled: true, token: hookToken, exposeReplies: true, defaultSessionKey: "hook:long", historyLimit: 500 },
    models: { providers: { local } },
    agents: { defaults: { model: "local/small", tools: { allow: [] }, heartbeat: { every: "0" } } },
  });
  const nodes = { one: await group.node("one"), two: await group.node("two") };
  let said = 0;
  const speak = async (node: Node, characters = 100) => {
    said += 1;
    const message = `FACT-${said}=blue ${words(characters)}`;
    const ended = await postHook(node, "agent", { message }, { prefer: "wait=30" });
    expect(await ended.json()).toMatchObject({ reply: "Noted." });
  };
  const asked = () => model.requests.filter(({ body }) => isSummaryRequest(body)).length;
  for (let n = 0; n < 30 && asked() === 0; n += 1) await speak(n % 2 === 0 ? nodes.one : nodes.two, 3_500);
  expect(asked()).toBe(1);
  const shown = async (node: Node): Promise<Shown> =>
    JSON.parse((await node.command("sessions", "show", "hook:long", "--json", "--limit", "0")).out);
  /** The node that has begun to summarize, and the other one. */
  const roles = async () => {
    const [row] = await database.query(group.url, "SELECT value FROM $schema.kv WHERE namespace = 'compactions'");
    const holder = nodes[(JSON.parse(String(row?.value)) as { readonly node: keyof typeof nodes }).node];
    return { holder, other: holder === nodes.one ? nodes.two : nodes.one };
  };
  return {
    ...{ group, nodes, roles, asked, speak, shown },
    write: () => write.resolve(),
    /** One summary is stored, and each message is in it or after it. */
    async expectWhole(node: Node) {
      const { summaries, transcript } = await shown(node);
      expect(summaries).toHaveLength(1);
      const [{ text, messages } = { text: "", messages: 0 }] = summaries;
      const later = transcript.slice(messages).map(({ content }) => content);
      expect([...factsIn(text), ...factsIn(later.join("\n"))]).toEqual(range(said));
    },
  };
}

test.concurrent("while a node summarizes, turns on the other one ask for no further summary", async () => {
  const { nodes, asked, speak, shown, write, expectWhole } = await openLongConversation();
  for (let n = 0; n < 2; n += 1) for (const node of [nodes.one, nodes.two]) await speak(node);
  expect([asked(), (await shown(nodes.one)).summaries]).toEqual([1, []]);
  write();
  await expect.poll(async () => (await shown(nodes.two)).summaries.length).toBe(1);
  const parts = asked();
  await speak(nodes.two);
  await expectWhole(nodes.two);
  expect(asked()).toBe(parts);
});

test.concurrent("what a killed node has begun to summarize, the other one summarizes after its next turn", async () => {
  const { group, roles, asked, speak, shown, write, expectWhole } = await openLongConversation();
  const { holder, other } = await roles();
  holder.process.child.kill("SIGKILL");
  await holder.process.finished;
  await group.endLease(holder.name);
  write();
  await speak(other);
  await expect.poll(async () => (await shown(other)).summaries.length).toBe(1);
  expect(asked()).toBeGreaterThan(1);
  await expectWhole(other);
});

test.concurrent("a node that slept while another one summarized stores no summary of its own", async () => {
  const { group, roles, asked, speak, shown, write, expectWhole } = await openLongConversation();
  const { holder, other } = await roles();
  holder.process.child.kill("SIGSTOP");
  await group.endLease(holder.name);
  write();
  await speak(other);
  await expect.poll(async () => (await shown(other)).summaries.length).toBe(1);
  holder.process.child.kill("SIGCONT");
  await holder.process.until(/this node lost its lease/);
  await speak(holder);
  await expectWhole(other);
  const parts = asked();
  await speak(other);
  expect(asked()).toBe(parts);
  await expectWhole(holder);
});
