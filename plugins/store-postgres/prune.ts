/** Removes data past its limits in small steps, each a transaction of its own, so that no lock is held for long. */
import type { Pruned, PruneLimits } from "service-gateway/sdk/store";
import type { Database } from "./pool.ts";

const stepRows = 250;
const stepTranscripts = 50;

interface Step {
  readonly removed?: number;
  readonly ended?: number;
  readonly next: number | null;
}

/** Repeats a step from where the last one ended. Returns the total. */
async function inSteps(step: (after: number) => Promise<Step | undefined>): Promise<number> {
  let total = 0;
  for (let after: number | null = 0; after !== null; ) {
    const done: Step | undefined = await step(after);
    total += done?.removed ?? done?.ended ?? 0;
    after = done?.next ?? null;
  }
  return total;
}

async function pruneExpired(database: Database, subject: "dedupe" | "kv" | "sent", before: number): Promise<number> {
  return inSteps(async () => {
    const [row] = await database.call<{ prune_expired: number }>("prune_expired", [subject, before, stepRows]);
    const removed = row?.prune_expired ?? 0;
    return { removed, next: removed < stepRows ? null : 0 };
  });
}

/** When the newest of too many dedupe keys expires; 0 if there are not too many. */
async function dedupeExcess(database: Database, keep: number): Promise<number> {
  const [row] = await database.report<{ until: number }>(
    "SELECT until FROM @dedupe ORDER BY until DESC LIMIT 1 OFFSET $1",
    [keep],
  );
  return row?.until ?? 0;
}

async function endOverdue(database: Database, now: number, keepWaitingMs: number): Promise<number> {
  const decision = {
    at: now,
    station: "settled",
    plugin: "core",
    verdict: "failed",
    code: "waited_too_long",
    hint: "The entries before and the log show what it waited for; a replay of the delivery runs it again.",
  };
  return inSteps(async (after) => {
    const values = [now, now - keepWaitingMs, after, stepRows, JSON.stringify([decision])];
    return (await database.call<Step>("end_overdue", values))[0];
  });
}

async function pruneEvents(database: Database, before: number, keep: number): Promise<number> {
  const [stored] = await database.report<{ settled: number }>(
    "SELECT count(*) AS settled FROM @inbox WHERE state >= 4",
  );
  let excess = Math.max(0, (stored?.settled ?? 0) - keep);
  return inSteps(async (after) => {
    const [step] = await database.call<Step>("prune_events", [before, excess, after, stepRows]);
    excess = Math.max(0, excess - (step?.removed ?? 0));
    return step;
  });
}

export async function prune(database: Database, limits: PruneLimits): Promise<Pruned> {
  const { now, keepEventsMs, keepEvents, keepSentMs, keepDedupeKeys, keepWaitingMs, keepTranscriptsMs, keepCallsMs } =
    limits;
  const ended = keepWaitingMs === undefined ? 0 : await endOverdue(database, now, keepWaitingMs);
  const forgotten = keepDedupeKeys === undefined ? now : Math.max(now, await dedupeExcess(database, keepDedupeKeys));
  let removed = await pruneExpired(database, "dedupe", forgotten);
  removed += await pruneExpired(database, "kv", now);
  removed += await pruneExpired(database, "sent", now - keepSentMs);
  await database.call("leave_out_old", [now]);
  removed += await pruneEvents(database, now - keepEventsMs, keepEvents);
  if (keepCallsMs !== undefined) {
    removed += await inSteps(async () => {
      const [row] = await database.call<{ prune_calls: number }>("prune_calls", [now - keepCallsMs, stepRows]);
      const pruned = row?.prune_calls ?? 0;
      return { removed: pruned, next: pruned < stepRows ? null : 0 };
    });
  }
  if (keepTranscriptsMs !== undefined) {
    removed += await inSteps(
      async (after) =>
        (await database.call<Step>("prune_transcripts", [now - keepTranscriptsMs, after, stepTranscripts]))[0],
    );
  }
  return { removed, ...(ended > 0 && { ended }) };
}
