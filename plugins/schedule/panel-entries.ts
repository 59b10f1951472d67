/** What the console shows of schedules and reminders: the same as `schedules list`. */
import type { PluginHost } from "service-gateway/sdk";
import type { Agenda } from "./agenda.ts";
import { type PlanView, timesText, viewsOf } from "./view.ts";

type Entry = Awaited<ReturnType<Parameters<PluginHost["panel"]>[0]["entries"]>>[number];

const states = {
  on: { word: "on", tone: "good" },
  paused: { word: "paused", tone: "warn" },
  done: { word: "done", tone: "quiet" },
  error: { word: "error", tone: "bad" },
} as const satisfies Readonly<Record<PlanView["state"], Entry["state"]>>;

function entryOf({
  name,
  type,
  state,
  kind,
  times,
  timezone,
  message,
  to,
  next,
  last,
  failures,
  ...rest
}: PlanView): Entry {
  const ended = last === undefined ? undefined : `${last.text}: ${last.outcome ?? "runs or waits"}`;
  const facts: Readonly<Record<string, string | undefined>> = {
    times: times === undefined ? undefined : `${timesText(times)} in ${timezone}`,
    next: next.map(({ text }) => text).join("; "),
    does: kind === undefined ? undefined : kind === "say" ? "sends its message" : "asks the agent",
    to,
    "last run": ended,
    event: last?.eventId,
    failed: failures > 0 ? `${failures} ${failures === 1 ? "time" : "times in a row"}` : undefined,
    problem: rest.problem,
    fix: rest.fix,
  };
  return {
    id: `${type}:${name}`,
    title: type === "reminder" ? `Reminder ${name}` : name,
    state: state === "on" && failures > 0 ? { word: "failing", tone: "bad" } : states[state],
    facts: Object.fromEntries(Object.entries(facts).filter((fact): fact is [string, string] => (fact[1] ?? "") !== "")),
    ...(message !== undefined && { text: message }),
    acts: actsOf(type, state),
  };
}

function actsOf(type: PlanView["type"], state: PlanView["state"]): readonly string[] {
  if (state === "error") return [];
  return [
    "run",
    ...(state === "on" ? ["pause"] : state === "paused" ? ["resume"] : []),
    ...(type === "reminder" ? ["cancel"] : []),
  ];
}

export const entriesOf = (agenda: Pick<Agenda, "entries" | "faulty">): readonly Entry[] => viewsOf(agenda).map(entryOf);
