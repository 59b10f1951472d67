/**
 * Models that do not answer. Turns that no person watches wait for them; one of them asks now and then, and as soon as
 * the model has answered any call, all go on. The owner is notified once when an outage lasts, and once when it is
 * over, on all nodes of a store together.
 */
import { type CodeDefinition, reasonOf } from "../../contract/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";
import { createOutageNotes, type Outage } from "./outage-notes.ts";
import { createRepeatedFailures } from "./repeated-failures.ts";

const firstPauseMs = 10_000;
const longestPauseMs = 10 * 60_000;
const hourMs = 3_600_000;

/** The trace of a turn that waits has this code. */
export const waitsForModel = "waits_for_model";

/** A turn that failed because its models are away. */
export interface AwayTurn {
  /** The leader of its unit. */
  readonly eventId: string;
  /** The models that it could ask, as `provider/model`; the engine's id if it needs none. */
  readonly models: readonly string[];
  readonly away: NonNullable<CodeDefinition["away"]>;
  /** What the engine says about it. */
  readonly detail: string;
  readonly patienceHours: number;
}

/** How a turn waits; see `Wait` of the path. */
export interface ModelWait {
  readonly detail: string;
  /** It has waited before. */
  readonly known: boolean;
  mayGo(): boolean;
  ms(): number;
}

export interface ModelOutages {
  /** Resolves with how the turn waits; `undefined` if it has waited as long as it may. */
  wait(turn: AwayTurn): Promise<ModelWait | undefined>;
  /** None of the models answered when they were asked last. */
  areAway(models: readonly string[]): boolean;
  /** A call of a model has succeeded. Costs nothing unless there is an outage. */
  answered(model: string): void;
  /** Reads the outages that an earlier process or another node has noted. */
  load(): Promise<void>;
}

const providerOf = (model: string) => model.split("/", 1)[0] ?? model;

/** Whether the outage is one of the model. */
const isOf = ({ key, models }: Outage, model: string): boolean =>
  models.some((one) => one === model || (key.startsWith("provider ") && providerOf(one) === providerOf(model)));

export function createModelOutages(options: {
  readonly store: Pick<Store, "event" | "update" | "list">;
  readonly log: Pick<PluginLog, "info" | "warn">;
  readonly now: () => number;
  /** Sends a text to the owner. The same key is sent once. Resolves with false if no owner is known. */
  readonly notifyOwner: (text: string, key: string) => Promise<boolean>;
  /** Called when turns that wait may go on. */
  readonly onAnswer: () => void;
}): ModelOutages {
  const { store, log, now } = options;
  const outages = new Map<string, Outage>();
  const notes = createOutageNotes(options);
  const failures = createRepeatedFailures(options);

  /** The pause grows with the outage: it is as long as the outage so far. */
  const pauseMs = ({ since }: Outage) => Math.min(longestPauseMs, Math.max(firstPauseMs, now() - since));

  async function outageOf({ models, away, detail }: AwayTurn): Promise<Outage> {
    const names = [...new Set(models.map((model) => (away === "provider" ? providerOf(model) : model)))].toSorted();
    const key = `${away} ${names.join(", ")}`;
    const known = outages.get(key);
    if (known !== undefined) {
      known.detail = detail;
      return known;
    }
    const noted = await notes.note(
      key,
      (before) => before ?? { models, detail, since: now(), waited: 0, failed: 0, told: false },
    );
    const { since, told: isNotified } = noted ?? { since: now(), told: false };
    // Another turn may have noted it meanwhile.
    const outage = outages.get(key) ?? { key, models, since, detail, nextAt: now() + firstPauseMs, isNotified };
    if (!outages.has(key))
      log.warn({ models: names, detail }, "a model does not answer: turns that no person watches wait for it");
    outages.set(key, outage);
    return outage;
  }

  /** When the unit began to wait, from its trace, which survives restarts. */
  async function waitsSince(eventId: string): Promise<number | undefined> {
    return (await store.event(eventId))?.decisions.find(({ code }) => code === waitsForModel)?.at;
  }

  return {
    async wait(turn) {
      const patienceMs = turn.patienceHours * hourMs;
      if (patienceMs <= 0) return undefined;
      const [outage, since] = await Promise.all([outageOf(turn), waitsSince(turn.eventId)]);
      const until = failures.count(turn.eventId, outage);
      const deadline = (since ?? now()) + patienceMs;
      outage.nextAt = Math.max(outage.nextAt, now() + pauseMs(outage));
      const isOver = now() >= deadline;
      if (isOver || since === undefined)
        await notes.note(outage.key, (before) =>
          before && isOver
            ? { ...before, failed: before.failed + 1 }
            : before && { ...before, waited: before.waited + 1 },
        );
      await notes.tell(outage, turn.patienceHours);
      if (isOver) return undefined;
      return {
        detail: `the model does not answer: ${turn.detail.replace(/\.$/, "")}`,
        known: since !== undefined,
        ms: () => Math.max(1_000, Math.min(Math.max(outage.nextAt, until), deadline) - now()),
        mayGo() {
          if (now() >= deadline) return true;
          if (now() < until) return false;
          if (outages.get(outage.key) !== outage) return true;
          if (now() < outage.nextAt) return false;
          // One turn asks; the others wait until it knows more.
          outage.nextAt = now() + pauseMs(outage);
          return true;
        },
      };
    },
    areAway: (models) =>
      outages.size > 0 && models.every((model) => [...outages.values()].some((outage) => isOf(outage, model))),
    answered(model) {
      if (outages.size === 0) return;
      const over = [...outages.values()].filter((outage) => isOf(outage, model));
      for (const outage of over) {
        outages.delete(outage.key);
        notes
          .end(outage)
          .catch((error: unknown) =>
            log.warn({ error: reasonOf(error) }, "the end of an outage of a model could not be noted"),
          );
      }
      if (over.length > 0) options.onAnswer();
    },
    async load() {
      for (const outage of await notes.list()) outages.set(outage.key, outage);
    },
  };
}
