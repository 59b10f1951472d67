/** Long conversations: prefixes, resets, failures of summaries, and settings. */
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

test.concurrent("after /new the summary is not told; the older conversation still shows it", async () => {
  const { model, say, shown, summarized, fill } = await openCompactionRoom({ room: 5_000, models: room5k });
  await fill();
  await summarized(1);
  await say("/new");
  expect((await say("What do you know?")).text).toBe("I know 0 facts: ");
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).not.toContain("summary");
  expect((await shown()).summaries).toEqual([]);
  expect((await shown("--generation", "0")).summaries).toHaveLength(1);
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
