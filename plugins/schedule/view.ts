/** What people and programs see of the plans. */
import type { PluginHost } from "service-gateway/sdk";
import type { Agenda } from "./agenda.ts";
import type { Entry } from "./book.ts";
import { type LastRun, type Plan, reminderPrefix, type Times } from "./plan.ts";
import { nextTimes } from "./times.ts";
import { sayTime } from "./wording.ts";

/** One plan, as `schedules list --json` prints it. */
export interface PlanView {
  readonly name: string;
  readonly type: "schedule" | "reminder";
  readonly state: "on" | "paused" | "done" | "error";
  readonly kind?: Plan["kind"];
  readonly times?: Times;
  readonly timezone?: string;
  readonly message?: string;
  readonly to?: string;
  readonly session?: string;
  /** The next three times, as text and in epoch milliseconds. */
  readonly next: readonly { readonly at: number; readonly text: string }[];
  readonly last?: LastRun & { readonly text: string };
  readonly failures: number;
  /** Why it does not run. */
  readonly problem?: string;
  readonly fix?: string;
}

const nextCount = 3;

function placeText({ channel, account, chat, thread }: NonNullable<Plan["to"]>): string {
  const bot = account === "" || account === "default" ? "" : ` (account ${account})`;
  const topic = thread === undefined ? "" : `:topic:${thread}`;
  return `${channel}${bot}:${chat}${topic}`;
}

export function timesText(times: Times): string {
  if ("cron" in times) return `cron ${times.cron}`;
  return "every" in times ? `every ${times.every}` : `at ${times.at}`;
}

export function viewOf({ plan, stored }: Entry): PlanView {
  const { timezone, to } = plan;
  const further =
    stored.due === null || stored.paused === true
      ? []
      : nextTimes(plan, { after: stored.due - 1, anchor: stored.anchor, count: nextCount });
  return {
    name: plan.name,
    type: plan.key.startsWith(reminderPrefix) ? "reminder" : "schedule",
    state: stored.paused === true ? "paused" : stored.due === null ? "done" : "on",
    kind: plan.kind,
    times: plan.times,
    timezone,
    message: plan.message,
    ...(to === undefined ? {} : { to: placeText(to) }),
    session: plan.sessionKey ?? "main",
    next: further.map((at) => ({ at, text: sayTime(at, timezone) })),
    ...(stored.last === undefined ? {} : { last: { ...stored.last, text: sayTime(stored.last.planned, timezone) } }),
    failures: stored.failures ?? 0,
  };
}

export function viewsOf(agenda: Pick<Agenda, "entries" | "faulty">): readonly PlanView[] {
  const faulty = agenda.faulty().map(
    ({ name, problem }): PlanView => ({
      ...{ name, type: "schedule", state: "error", next: [], failures: 0 },
      problem: `schedules.${[name, ...problem.path.slice(1)].join(".")} ${problem.message}.`,
      fix: problem.hint,
    }),
  );
  return [...agenda.entries().map(viewOf), ...faulty].sort(
    (a, b) => (a.next[0]?.at ?? Number.POSITIVE_INFINITY) - (b.next[0]?.at ?? Number.POSITIVE_INFINITY),
  );
}

type Watched = ReturnType<Parameters<PluginHost["status"]>[0]>;

/** For `service status` and `/readyz`: every schedule, and the reminders that fail. */
export function watchedOf(agenda: Pick<Agenda, "entries" | "faulty">): Watched {
  return viewsOf(agenda).flatMap((view): Watched => {
    const of = { source: view.type, account: view.name };
    if (view.state === "error")
      return [{ ...of, state: "needs_setup", reason: view.problem ?? "", fix: view.fix ?? "" }];
    if (view.failures > 0) {
      const reason =
        `Its last ${view.failures === 1 ? "run" : `${view.failures} runs`} failed: ` + `${view.last?.reason ?? ""}.`;
      return [
        { ...of, state: "retrying", reason, fix: `The command \`why ${view.last?.eventId ?? "last"}\` explains it.` },
      ];
    }
    if (view.type === "reminder") return [];
    const [next] = view.next;
    const reason =
      view.state === "paused" ? "Paused." : next === undefined ? "It will not run again." : `Next run: ${next.text}.`;
    return [{ ...of, state: "ok", reason, fix: "" }];
  });
}
