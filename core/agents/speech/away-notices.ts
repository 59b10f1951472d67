/**
 * Notifies the owner once that what transcribes or speaks does not answer, and once that it works again, on all nodes
 * of a store together.
 */
import { reasonOf } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import { speechAway } from "../conversation/sounds.ts";

/** An outage whose end is never noticed is forgotten. */
const forgetMs = 7 * 24 * 3_600_000;

export interface AwayNotices {
  /** Both never reject. */
  away(name: string, detail: string): Promise<void>;
  works(name: string): Promise<void>;
}

export function createAwayNotices({
  store,
  now,
  notifyOwner,
  log,
}: {
  readonly store: Pick<Store, "get" | "update">;
  readonly now: () => number;
  readonly notifyOwner: (text: string, key: string) => Promise<boolean>;
  readonly log: { warn(fields: object, message: string): void };
}): AwayNotices {
  /** What works, as far as this process knows: it need not ask the store each time. */
  const working = new Set<string>();

  async function guarded(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn({ error: reasonOf(error) }, "the owner could not be notified about voice messages");
    }
  }

  return {
    away: (name, detail) =>
      guarded(async () => {
        working.delete(name);
        log.warn({ name, detail }, "voice messages: it does not answer");
        const since = await store.update(speechAway, name, (before) => before ?? now(), {
          expiresAt: now() + forgetMs,
        });
        await notifyOwner(
          `Voice messages: ${detail.replace(/\.$/, "")}. People whose voice messages nothing else can transcribe are ` +
            "asked to write.",
          `speech-away:${name}:${String(since)}`,
        );
      }),
    works: (name) =>
      guarded(async () => {
        if (working.has(name)) return;
        working.add(name);
        const since = await store.get(speechAway, name);
        if (since === null) return;
        await store.update(speechAway, name, () => null);
        await notifyOwner(`Voice messages: ${name} works again.`, `speech-back:${name}:${String(since)}`);
      }),
  };
}
