/** Follows runs to their end, and reports failures: the first of a row, and each tenth. */
import { escapeMarkdown, type PluginHost } from "service-gateway/sdk";
import { type LastRun, type Plan, type StoredPlan, titleOf } from "./plan.ts";

const tellEach = 10;
/**
 * The reason of a run that a budget has refused. No failure of the plan: the owner is notified of the budget itself.
 */
const overBudget = "budget_exceeded";
/** The waits between two looks at a run, in milliseconds; the last one repeats. */
const waitsMs = [200, 500, 1_000, 2_000, 5_000, 15_000, 30_000];

export interface Endings {
  /** Looks at the run until it has ended. A run is followed once. */
  follow(plan: Plan, eventId: string): void;
  close(): void;
}

export function createEndings(options: {
  readonly host: Pick<PluginHost, "hookResult" | "store" | "notify" | "notifyOwner" | "log" | "now">;
  /** The run has ended, and the store has the outcome. */
  readonly onEnd: (key: string) => void;
}): Endings {
  const { host, onEnd } = options;
  const timers = new Map<string, NodeJS.Timeout>();
  let isClosed = false;

  function wait(plan: Plan, eventId: string, looks: number): void {
    const again = () => {
      look(plan, eventId, looks).catch((error: unknown) => {
        host.log.debug({ plan: plan.key, error: String(error) }, "the end of a run could not be read");
        wait(plan, eventId, looks + 1);
      });
    };
    if (isClosed) return;
    timers.set(eventId, setTimeout(again, waitsMs[Math.min(looks, waitsMs.length - 1)]).unref());
  }

  async function look(plan: Plan, eventId: string, looks: number): Promise<void> {
    const result = await host.hookResult(eventId);
    if (result?.ended === false) return wait(plan, eventId, looks + 1);
    timers.delete(eventId);
    await end(plan, { eventId, outcome: result?.outcome ?? "unknown", reason: result?.reason ?? "" });
    onEnd(plan.key);
  }

  async function end(
    plan: Plan,
    { eventId, outcome, reason }: Required<Pick<LastRun, "eventId" | "outcome" | "reason">>,
  ): Promise<void> {
    let failures = 0;
    let isNoted = false;
    await host.store.update(plan.key, (value) => {
      const stored = value as unknown as StoredPlan | null;
      failures = 0;
      isNoted = false;
      // Another gateway has noted it, or a newer run has taken its place.
      if (stored?.last === undefined || stored.last.eventId !== eventId || stored.last.outcome !== undefined)
        return undefined;
      isNoted = true;
      // A reminder is over after its last run.
      const isOver = stored.plan !== undefined && stored.due === null;
      const { failures: before = 0, ...rest } = stored;
      const isFailed = (outcome === "failed" || outcome === "refused") && reason !== overBudget;
      failures = isFailed ? before + 1 : 0;
      const inRow = reason === overBudget ? before : failures;
      const next: StoredPlan = {
        ...rest,
        last: { ...stored.last, outcome, reason },
        ...(inRow > 0 && { failures: inRow }),
      };
      return isOver ? null : JSON.parse(JSON.stringify(next));
    });
    if (failures === 1 || (failures > 0 && failures % tellEach === 0))
      await tell(plan, { eventId, outcome, reason, failures });
    if (isNoted && reason === overBudget) await tellAsker(plan, eventId);
  }

  async function tell(
    plan: Plan,
    {
      eventId,
      outcome,
      reason,
      failures,
    }: { readonly eventId: string; readonly outcome: string; readonly reason: string; readonly failures: number },
  ): Promise<void> {
    const count = failures === 1 ? "could not run" : `has failed ${failures} times in a row`;
    const key = `${plan.key}:${eventId}`;
    host.log.warn({ plan: plan.key, event: eventId, reason, failures }, "a run of a schedule or reminder failed");
    // The owner is notified elsewhere than in the place of the plan, which may be what fails.
    const text = `The ${titleOf(plan)} ${count}: ${reason}. The command \`why ${eventId}\` explains it.`;
    const isNotified = await host.notifyOwner(text, { key });
    if (!isNotified)
      host.log.warn(
        { plan: plan.key },
        "the owner could not be notified: the default agent has had no conversation yet",
      );
    // Where the policy has refused the run, it would refuse the notice.
    if (outcome === "failed") await tellAsker(plan, eventId);
  }

  async function tellAsker({ key, kind, message, asker, to, ...plan }: Plan, eventId: string): Promise<void> {
    if (asker === undefined || kind !== "ask" || to === undefined) return;
    const text = `The ${titleOf({ key, ...plan })} could not be answered: "${escapeMarkdown(message.slice(0, 200))}"`;
    await host.notify(to, text, { key: `${key}:${eventId}:asker` });
  }

  return {
    follow(plan, eventId) {
      if (!timers.has(eventId)) wait(plan, eventId, 0);
    },
    close() {
      isClosed = true;
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
