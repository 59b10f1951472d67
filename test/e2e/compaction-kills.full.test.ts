/** A process that is killed while it summarizes, and two nodes that would summarize the same conversation. */
import { expect, test } from "vitest";
import { openCompactionRoom, room5k, words } from "./compaction-room.ts";

test("a kill in the middle of a summary, a hundred times: none is stored twice, and no message is lost", async () => {
  let reached = Promise.withResolvers<void>();
  let hangs = true;
  const { host, say, shown, summarized } = await openCompactionRoom({
    ...{ room: 5_000, models: room5k },
    async beforeSummary() {
      reached.resolve();
      if (hangs) await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
    },
  });
  let said = 0;
  const speak = async () => {
    said += 1;
    await say(`FACT-${said}=blue ${words(1_500)}`);
  };
  for (let kill = 0; kill < 100; kill += 1) {
    reached = Promise.withResolvers<void>();
    const asked = reached.promise.then(() => true);
    for (let more = 0; more < 12; more += 1) {
      await speak();
      if (await Promise.race([asked, new Promise<false>((resolve) => setTimeout(resolve, 20, false))])) break;
    }
    await host.restart({ killed: true });
    const { summaries, transcript } = await shown("--limit", "0");
    expect(summaries).toEqual([]);
    expect(transcript.filter(({ role }) => role === "user")).toHaveLength(said);
  }
  hangs = false;
  await speak();
  await summarized(1);
  const { transcript } = await shown("--limit", "0");
  expect(transcript.filter(({ role }) => role === "user")).toHaveLength(said);
}, 600_000);
