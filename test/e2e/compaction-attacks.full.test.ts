/** Ways in which a long conversation could end, cost twice, or lose words. */
import { join } from "node:path";
import { aroundEach, test } from "vitest";
import { openSqliteStore } from "../../core/state/sqlite/index.ts";
import { createPlatform } from "../../plugins/playground/platform/index.ts";
import { createCountingServer, isSummaryRequest } from "../openai-server/counting.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { openCompactionRoom, room5k, words } from "./compaction-room.ts";
import { answered, answers, botToken, openChannel, people, startGatewayProcess } from "./room.ts";

aroundEach(inOwnTest);

type Room = Awaited<ReturnType<typeof openCompactionRoom>>;

const factsIn = (text: string): readonly number[] =>
  [...new Set([...text.matchAll(/FACT-(\d+)=/g)].map(([, n]) => Number(n)))].toSorted((one, other) => one - other);
const range = (until: number) => Array.from({ length: until }, (_, index) => index + 1);

interface Used {
  readonly purpose: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const ledger = async ({ command }: Pick<Room, "command">) =>
  (JSON.parse(await command("usage", "--by", "purpose", "--json")) as { readonly usage: readonly Used[] }).usage;

test.concurrent("messages that were too long, or not answered, do not add up to one that is too long", async () => {
  const { model, say, summarized } = await openCompactionRoom({ room: 5_000, models: room5k });
  for (let n = 1; n <= 8; n += 1) expect((await say(words(100_000))).end.reason).toBe("message_too_long");
  expect((await say("hi")).end.outcome).toBe("answered");
  await summarized(1);
  expect((await say("and now?")).end.outcome).toBe("answered");
  expect(model.refused).toEqual([]);
});

test.concurrent("five pasted messages that are too long together are answered with both numbers", async () => {
  const platform = await createPlatform({ bots: [{ token: botToken, username: "e2e_bot", name: "E2E" }] });
  const model = await createCountingServer({ room: 4_000 });
  onTestFinished(async () => {
    await platform.close();
    await model.close();
  });
  await startGatewayProcess({
    channels: { botchat: openChannel(platform) },
    messages: { inbound: { debounceMs: 500 } },
    models: {
      providers: {
        local: { api: "openai-compatible", baseUrl: model.url, models: { small: { contextTokens: 4_000 } } },
      },
    },
    agents: { defaults: { model: "local/small", tools: { allow: [] }, heartbeat: { every: "0" } } },
  });
  const [ada = 0] = people(platform);
  for (let n = 1; n <= 5; n += 1) platform.act.say(ada, ada, `FACT-${n}=blue ${words(3_500)}`);
  await answered(
    platform,
    ada,
    /this message is too long: it has about \d,\d00 tokens, and I can read about \d,\d00 at/,
  );
  expect(answers(platform, ada)).toHaveLength(1);
  expect(model.requests).toHaveLength(0);
  platform.act.say(ada, ada, "What do you know?");
  await answered(platform, ada, "FACT-1=blue");
  expect(model.refused).toEqual([]);
});

test.concurrent("a budget that is used up between pieces is reported; what was paid for stays", async () => {
  const room = await openCompactionRoom({
    ...{ room: 32_000, models: { small: { contextTokens: 32_000 }, tiny: { contextTokens: 4_000 } } },
    agent: { models: ["local/small", "local/tiny"], compaction: { model: "local/tiny", keepTurns: 2 } },
  });
  const { host, say, asked, shown } = room;
  for (let n = 1; n <= 12; n += 1) await say(`FACT-${n}=blue ${words(1_500)}`);
  const used = (await ledger(room)).reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
  await host.configure({ budget: { perDayTokens: used + 6_000 } });
  const { end, text } = await say("/compact");
  expect(text).toMatch(/^\d+ messages are summarized now: [^\n]* The rest is not: A budget is used up/m);
  expect(end.outcome).toBe("answered");
  const paid = asked();
  const { summaries } = await shown();
  const covered = summaries[0]?.messages ?? 0;
  expect([paid > 0, covered > 0 && covered < 20, factsIn(summaries[0]?.text ?? "")]).toEqual([
    true,
    true,
    range(covered / 2),
  ]);
  // Without room, nothing more is asked, and a person reads why.
  expect((await say("/compact")).end).toMatchObject({ outcome: "refused", reason: "budget_exceeded" });
  expect([asked(), (await shown()).summaries.length]).toEqual([paid, 1]);
  await host.configure({ budget: { perDayTokens: 10_000_000 } });
  expect((await say("/compact")).text).toMatch(/^\d+ messages are summarized now: [^\n]* fewer than before\.$/m);
  const later = (await shown()).summaries;
  expect([later.length, factsIn(later.at(-1)?.text ?? "")]).toEqual([2, range(10)]);
  expect((await ledger(room)).find(({ purpose }) => purpose === "compaction")?.calls).toBe(asked());
});

test.concurrent("after a change to a smaller model, every turn is answered, and nothing is lost", async () => {
  const { model, say, shown } = await openCompactionRoom({
    ...{ room: 32_000, models: { small: { contextTokens: 32_000 }, tiny: { contextTokens: 4_000 } } },
    agent: { models: ["local/small", "local/tiny"] },
    reply: (_, facts) => `I know ${facts.length}: ${facts.map((fact) => fact.replace("=", " is ")).join(" ")}`,
  });
  for (let n = 1; n <= 40; n += 1) await say(`FACT-${n}=blue ${words(1_500)}`);
  await say("/model local/tiny");
  for (let n = 1; n <= 12; n += 1) expect((await say("and?")).end.outcome).toBe("answered");
  await say("/compact");
  const { summaries } = await shown();
  const last = model.requests.findLast(({ body }) => !isSummaryRequest(body))?.body.messages ?? [];
  expect(factsIn(JSON.stringify(last) + summaries.at(-1)?.text)).toEqual(range(40));
});

test.concurrent("/new during a summary begins without it; the earlier conversation gets it", async () => {
  const release = Promise.withResolvers<void>();
  const { model, say, shown, fill } = await openCompactionRoom({
    ...{ room: 5_000, models: room5k },
    beforeSummary: () => release.promise,
  });
  await fill();
  await say("/new");
  release.resolve();
  await expect.poll(async () => (await shown("--generation", "0")).summaries.length).toBe(1);
  expect((await say("What do you know?")).text).toBe("I know 0 facts: ");
  expect((await shown()).summaries).toEqual([]);
  expect(model.answered.filter(({ isSummary }) => isSummary)).toHaveLength(1);
});

test.concurrent("a person who is erased during a summary is in none", async () => {
  const release = Promise.withResolvers<void>();
  const { host, command, say, fill } = await openCompactionRoom({
    ...{ room: 5_000, models: room5k },
    beforeSummary: () => release.promise,
  });
  await fill();
  const erased = await command("privacy", "erase", "loopback:owner");
  release.resolve();
  await say("hello");
  await host.close();
  const store = await openSqliteStore({ directory: join(host.directory, "state"), now: host.now });
  onTestFinished(() => store.close());
  for (const { key } of await store.sessions({ limit: 100 })) expect(await store.summaries(key)).toEqual([]);
  expect(erased).toMatch(/[1-9]\d* messages in others/);
});

test.concurrent("the request for the summary of a group names who said what", async () => {
  const { model, host, asked } = await openCompactionRoom({
    ...{ room: 5_000, models: room5k },
    config: { channels: { loopback: { groupPolicy: "open", groups: { "*": { requireMention: false } } } } },
  });
  for (let n = 1; asked() === 0 && n < 30; n += 1)
    await host.say(`FACT-${n}=blue ${words(1_500)}`, { from: n % 2 ? "ada" : "bela", group: true, mention: true });
  const request = model.requests.find(({ body }) => isSummaryRequest(body))?.body.messages ?? [];
  const text = String(request.at(-1)?.content);
  expect(text).toMatch(/ada[^\n]*FACT-1=blue/);
  expect(text).toMatch(/bela[^\n]*FACT-2=blue/);
});
