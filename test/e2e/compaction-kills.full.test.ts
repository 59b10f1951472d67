/** Processes that are killed while they summarize a conversation. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openCompactionPlace, type Shown } from "./compaction-processes.ts";
import { words } from "./compaction-room.ts";
import { answered, kill, restart, startGatewayProcess, stop } from "./room.ts";

/** A multiple of the moments. */
const kills = Number(process.env.KILLS_IN_A_SUMMARY ?? 16);

/**
 * When the process is killed: while the model writes the first part of a summary, so many milliseconds after it has
 * sent that, or once the summary is stored. Until all parts are written and stored, it takes 20 ms and more.
 */
const moments = ["writing", 0, 10, 20, 30, 50, 80, "stored"] as const;

const factsIn = (text: string): readonly number[] => [...text.matchAll(/FACT-(\d+)=/g)].map(([, n]) => Number(n));

/** Each summary covers more than the one before it, and no message is covered twice or missing. */
function expectWhole({ summaries, transcript }: Shown, said: number): void {
  const covered = summaries.map(({ messages }) => messages);
  expect(covered).toEqual([...new Set(covered)].toSorted((one, other) => one - other));
  expect(transcript.filter(({ role }) => role === "user").flatMap(({ content }) => factsIn(content))).toEqual(
    Array.from({ length: said }, (_, index) => index + 1),
  );
  const { text = "", messages = 0 } = summaries.at(-1) ?? {};
  const later = transcript.slice(messages).map(({ content }) => content);
  expect([...factsIn(text), ...factsIn(later.join("\n"))]).toEqual(
    Array.from({ length: said }, (_, index) => index + 1),
  );
}

test("kills in a summary: none is stored twice, and no message is lost", async () => {
  let said = 0;
  let writing = Promise.withResolvers<void>();
  let write = Promise.withResolvers<void>();
  onTestFinished(() => write.resolve());
  const { platform, ada, config, asked, shown } = await openCompactionPlace({
    room: 16_000,
    reply: () => `Noted ${said}.`,
    async beforeSummary() {
      writing.resolve();
      await write.promise;
    },
  });
  let gateway = await startGatewayProcess(config);
  const speak = async () => {
    said += 1;
    platform.act.say(ada, ada, `FACT-${said}=blue ${words(3_500)}`);
    await answered(platform, ada, `Noted ${said}.`);
  };
  let stored = 0;
  const storedNow = async () => (await shown(gateway)).summaries.length;
  for (let round = 0; round < kills; round += 1) {
    const moment = moments[round % moments.length] ?? "writing";
    writing = Promise.withResolvers();
    write = Promise.withResolvers();
    const before = asked();
    for (let more = 0; more < 30 && asked() === before; more += 1) await speak();
    await writing.promise;
    if (moment !== "writing") write.resolve();
    if (typeof moment === "number") await delay(moment);
    if (moment === "stored") await expect.poll(storedNow, { timeout: 30_000 }).toBeGreaterThan(stored);
    await kill(gateway);
    write.resolve();
    gateway = await restart(gateway);
    const found = await shown(gateway);
    expectWhole(found, said);
    stored = found.summaries.length;
  }
  // Some kills were before a summary was stored, and others after it.
  expect([stored > 0, stored < kills]).toEqual([true, true]);
  await stop(gateway);
}, 1_800_000);
