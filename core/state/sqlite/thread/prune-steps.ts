/** Runs a prune as separate requests to the writer, so that acceptances run in between. */
import type { Pruned, PruneLimits } from "../../limits.ts";
import type { PruneInput } from "../removal/prune.ts";
import type { WriteQueue } from "./queue.ts";

export async function prune(queue: WriteQueue, limits: PruneLimits): Promise<Pruned> {
  const { now, keepEventsMs, keepEvents, keepSentMs, keepDedupeKeys, keepWaitingMs, keepTranscriptsMs, keepCallsMs } =
    limits;
  const forgotten =
    keepDedupeKeys === undefined ? now : Math.max(now, await queue.write("dedupeExcess", keepDedupeKeys));
  const subjects: readonly Omit<PruneInput, "after">[] = [
    { subject: "dedupe", before: forgotten, keep: 0 },
    { subject: "kv", before: now, keep: 0 },
    { subject: "sent", before: now - keepSentMs, keep: 0 },
    ...(keepCallsMs === undefined ? [] : [{ subject: "calls", before: now - keepCallsMs, keep: 0 } as const]),
    { subject: "queues", before: now, keep: 0 },
    { subject: "events", before: now - keepEventsMs, keep: keepEvents },
    ...(keepTranscriptsMs === undefined
      ? []
      : [{ subject: "transcripts", before: now - keepTranscriptsMs, keep: 0 } as const]),
  ];
  let ended = 0;
  for (let after: number | null = keepWaitingMs === undefined ? null : 0; after !== null; ) {
    const step: { ended: number; after: number | null } = await queue.write("endOverdue", {
      now,
      before: now - (keepWaitingMs ?? 0),
      after,
    });
    ended += step.ended;
    after = step.after;
  }
  let removed = 0;
  for (const subject of subjects) {
    for (let after: number | null = 0; after !== null; ) {
      const step: { removed: number; after: number | null } = await queue.write("prune", { ...subject, after });
      removed += step.removed;
      after = step.after;
    }
  }
  while (await queue.write("shrink", undefined));
  return { removed, ...(ended > 0 && { ended }) };
}
