/**
 * What the nodes of a store, and later processes, know about the outages of models, and what the owner reads about
 * them.
 */
import { programCommand, reasonOf } from "../../contract/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";

const namespace = "core:model-outages";
/** The owner is not notified of shorter outages, such as the restart of a model server. */
const notifyAfterMs = 60_000;
/** An outage whose end is never noticed, because no turn uses the model any longer, is removed. */
const forgetAfterMs = 7 * 24 * 3_600_000;

/** What is stored. */
export interface Noted {
  readonly models: readonly string[];
  readonly detail: string;
  readonly since: number;
  /** How many turns have begun to wait. */
  readonly waited: number;
  /** How many of them have waited as long as they may. */
  readonly failed: number;
  /** The owner was notified. */
  readonly told: boolean;
}

/** An outage as this process knows it. */
export interface Outage {
  readonly key: string;
  readonly models: readonly string[];
  readonly since: number;
  detail: string;
  /** When a waiting turn may ask again. */
  nextAt: number;
  isNotified: boolean;
}

export interface OutageNotes {
  /** Changes the stored record. Rejects if nothing can be stored. */
  note(key: string, change: (noted: Noted | null) => Noted | null | undefined): Promise<Noted | null>;
  /** Notifies the owner of an outage that lasts, once. */
  tell(outage: Outage, patienceHours: number): Promise<void>;
  /** Removes the record, and notifies the owner if they know of the outage. */
  end(outage: Outage): Promise<void>;
  list(): Promise<readonly Outage[]>;
}

const runs = (count: number) => (count === 1 ? "1 run" : `${count} runs`);
const named = (models: readonly string[]) => models.map((model) => `\`${model}\``).join(", ");

function lasted(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  if (minutes < 60) return minutes === 1 ? "1 minute" : `${minutes} minutes`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function beginText({ models, detail }: Outage, { waited }: Noted, patienceHours: number): string {
  const waiting =
    `${runs(waited)} that no person watches (webhooks, heartbeats, turns of plugins) ` +
    `${waited === 1 ? "waits" : "wait"} for it`;
  const each = `each for at most ${patienceHours} hours`;
  return (
    `The model ${named(models)} does not answer: ${detail.replace(/\.$/, "")}. ${waiting}, ${each}. ` +
    "People who write get an apology meanwhile."
  );
}

function endText({ models, since }: Outage, { waited, failed }: Noted, now: number): string {
  const left = waited - failed;
  const ran = left > 0 ? ` ${runs(left)} that waited for it ${left === 1 ? "runs" : "run"} now.` : "";
  const retry = `\`${programCommand} events retry --outcome failed --since 12h\` runs them again`;
  const lost = failed === 0 ? "" : ` ${runs(failed)} had waited too long and failed: ${retry}.`;
  return `The model ${named(models)} answers again, after ${lasted(now - since)}.${ran}${lost}`;
}

export function createOutageNotes({
  store,
  log,
  now,
  notifyOwner,
}: {
  readonly store: Pick<Store, "update" | "list">;
  readonly log: Pick<PluginLog, "info" | "warn">;
  readonly now: () => number;
  readonly notifyOwner: (text: string, key: string) => Promise<boolean>;
}): OutageNotes {
  const note: OutageNotes["note"] = async (key, change) => {
    const expiresAt = now() + forgetAfterMs;
    return (await store.update(namespace, key, (value) => change(value as Noted | null) as never, {
      expiresAt,
    })) as Noted | null;
  };

  async function notify(text: string, key: string): Promise<void> {
    try {
      await notifyOwner(text, key);
    } catch (error) {
      log.warn({ error: reasonOf(error) }, "the owner could not be notified about the model");
    }
  }

  return {
    note,
    async tell(outage, patienceHours) {
      if (outage.isNotified || now() - outage.since < notifyAfterMs) return;
      outage.isNotified = true;
      const noted = await note(outage.key, (before) => before && { ...before, told: true });
      // The key keeps another node from sending the same notice.
      if (noted !== null)
        await notify(beginText(outage, noted, patienceHours), `model-away:${outage.key}:${noted.since}`);
    },
    async end(outage) {
      const { key, models, since } = outage;
      let last: Noted | null = null;
      await note(key, (before) => {
        last = before;
        return before === null ? undefined : null;
      });
      const noted = last as Noted | null;
      // Another node has seen the end first.
      if (noted === null) return;
      const { waited, failed, told: isNotified } = noted;
      const seconds = Math.round((now() - since) / 1_000);
      log.info({ models, seconds, waited, failed }, "a model answers again: what waited for it runs now");
      if (isNotified) await notify(endText(outage, noted, now()), `model-back:${key}:${noted.since}`);
    },
    async list() {
      const found = await store.list(namespace);
      return found.map(({ key, value }) => {
        const { models, detail, since, told: isNotified } = value as unknown as Noted;
        return { key, models, detail, since, isNotified, nextAt: now() };
      });
    },
  };
}
