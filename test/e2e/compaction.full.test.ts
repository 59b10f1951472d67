/** Long conversations: prefixes, resets, failures of summaries, and settings. */
import { definePlugin, Type } from "service-gateway/sdk";
import { aroundEach, test } from "vitest";
import { expect, inOwnTest } from "../support/own-test.ts";
import { openCompactionRoom, room5k, words } from "./compaction-room.ts";

aroundEach(inOwnTest);

test.concurrent("the next requests begin with the same bytes, and contain the last turns word for word", async () => {
  const { model, say, summarized, fill } = await openCompactionRoom({ room: 5_000, models: room5k });
  const last = await fill();
  await summarized(1);
  for (const text of ["one", "two"]) await say(text);
  const [before, after] = model.requests.slice(-2).map(({ body }) => body.messages);
  expect(after?.slice(0, (before?.length ?? 0) - 1)).toEqual(before?.slice(0, -1));
  expect(JSON.stringify(after)).toContain(`FACT-${last}=blue ${words(1_500).trim()}`);
});

test.concurrent("after /new and a kill the summary is not told; the older conversation still shows it", async () => {
  const { model, host, say, shown, summarized, fill } = await openCompactionRoom({ room: 5_000, models: room5k });
  await fill();
  await summarized(1);
  await say("/new");
  expect((await say("What do you know?")).text).toBe("I know 0 facts: ");
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).not.toContain("summary");
  expect((await shown()).summaries).toEqual([]);
  expect((await shown("--generation", "0")).summaries).toHaveLength(1);
  await host.restart({ killed: true });
  expect((await say("And now?")).text).toBe("I know 0 facts: ");
});

test.concurrent("a summary that fails ends no turn; what does not fit is left out, and why says so", async () => {
  let fails = true;
  const { model, host, say, asked, shown } = await openCompactionRoom({
    ...{ room: 5_000, models: room5k },
    beforeSummary() {
      if (fails) throw new Error("the server dies");
    },
    config: { plugins: { entries: { ai: { options: { retries: 0 } } } } },
  });
  for (let n = 1; n <= 14; n += 1) expect((await say(`FACT-${n}=blue ${words(1_500)}`)).end.outcome).toBe("answered");
  // One attempt: the next follows after a pause.
  expect(asked()).toBe(1);
  expect((await shown()).summaries).toEqual([]);
  const decisions = await host.why(host.ended().at(-1)?.eventId ?? "");
  expect(decisions.map(({ code }) => code)).toContain("context_left_out");
  expect(model.refused).toEqual([]);
  fails = false;
});

test.concurrent("instructions that fill the context cause no summaries without gain", async () => {
  const { say, asked } = await openCompactionRoom({
    ...{ room: 5_000, models: room5k },
    agent: { systemPrompt: `Be kind. ${words(14_000)}` },
  });
  for (let n = 1; n <= 12; n += 1) await say("hello");
  expect(asked()).toBe(0);
});

test.concurrent("compaction can be switched off, and set for each agent", async () => {
  const { model, say, asked } = await openCompactionRoom({
    ...{ room: 5_000, models: room5k },
    agent: { compaction: { enabled: false } },
  });
  for (let n = 1; n <= 14; n += 1) await say(`FACT-${n}=blue ${words(1_500)}`);
  expect(asked()).toBe(0);
  expect(model.refused).toEqual([]);
});

test.concurrent("what a limit of turns would leave out is summarized as well", async () => {
  const { say, summarized, asked } = await openCompactionRoom({ room: 200_000, agent: { historyTurns: 24 } });
  for (let n = 1; n <= 19; n += 1) await say(`FACT-${n}=blue`);
  await summarized(1);
  expect((await say("What?")).text).toContain("FACT-1=blue");
  expect(asked()).toBe(1);
});

const openWithTool = (result: string, calls: number) => {
  let left = 0;
  return {
    begin: () => {
      left = calls;
    },
    room: openCompactionRoom({
      ...{ room: 32_000, models: { small: { contextTokens: 32_000 } } },
      agent: { tools: { allow: ["dump"] }, compaction: { at: 0.5 } },
      plugins: [
        definePlugin({
          id: "dump",
          version: "1.0.0",
          host: "^0.2.0",
          setup(host) {
            host.tool({ name: "dump", description: "Dumps.", parameters: Type.Object({}), run: () => result });
          },
        }),
      ],
      reply(_, facts) {
        left -= 1;
        return left >= 0 ? { tool: "dump" } : `I know ${facts.join(" ")}`;
      },
    }),
  };
};

test.concurrent("a loop of tools, each request with all earlier results, makes no conversation long", async () => {
  const { begin, room } = openWithTool(words(13_000), 7);
  const { model, say, asked } = await room;
  for (let n = 1; n <= 5; n += 1) {
    begin();
    expect((await say(`FACT-${n}=blue`)).end.outcome).toBe("answered");
  }
  // The last request of a turn has more than half of the context, and the conversation a hundredth.
  expect([model.answered.length, asked()]).toEqual([40, 0]);
  expect(model.answered.at(-1)?.tokens).toBeGreaterThan(16_000);
  const [, used = ""] = /Context: ([\d,]+) of 32,000 tokens/.exec((await say("/status")).text) ?? [];
  await say("hi");
  const { tokens: next = 0 } = model.answered.at(-1) ?? {};
  expect(Math.abs(Number(used.replaceAll(",", "")) - next) / next).toBeLessThan(0.1);
});

test.concurrent("results of 2 MB in a loop of tools are cut to what fits, and leave no trace", async () => {
  const { begin, room } = openWithTool(`FACT-1=begin ${words(2_000_000)} FACT-2=end`, 4);
  const { model, say, asked } = await room;
  for (let n = 0; n < 3; n += 1) {
    begin();
    expect((await say("dump it")).text).toContain("I know FACT-1=begin FACT-2=end");
  }
  expect([model.refused, model.answered.length, asked()]).toEqual([[], 15, 0]);
  await say("hi");
  expect(model.answered.at(-1)?.tokens).toBeLessThan(2_000);
});
