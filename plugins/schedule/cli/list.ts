/** `schedules list` and `schedules why`. */
import type { CliAnswer, CliCall } from "service-gateway/sdk";
import { type PlanView, timesText } from "../view.ts";
import { jsonOf, planNamed, readPlans } from "./plans.ts";

const notRunning = "No gateway is running, so nothing runs until it is started.";

function rowOf({ name, type, state, kind, times, next, last, problem }: PlanView): readonly string[] {
  const ended = last === undefined ? "" : `last ${last.text}: ${last.outcome ?? "running"}`;
  return [
    name,
    type,
    state,
    kind ?? "",
    times === undefined ? "" : timesText(times),
    next[0] === undefined ? "" : `next ${next[0].text}`,
    problem ?? ended,
  ];
}

export async function listPlans(call: CliCall): Promise<CliAnswer> {
  const { isRunning, plans } = await readPlans(call);
  const none =
    "There are no schedules and no reminders. Schedules are configured in `schedules`; people ask the agent " +
    "for reminders.";
  const lines = plans.length === 0 ? [none] : plans.map(rowOf);
  return { lines: isRunning ? lines : [...lines, notRunning], data: jsonOf(plans) };
}

export async function explainPlan(call: CliCall): Promise<CliAnswer> {
  const [name = ""] = call.args;
  const { isRunning, plans } = await readPlans(call);
  const plan = planNamed(plans, name);
  if (plan === undefined) {
    const known = plans.map((one) => one.name).join(", ");
    return {
      lines: [`There is no enabled schedule or reminder ${name}.${known === "" ? "" : ` There are: ${known}.`}`],
      data: null,
      failed: true,
    };
  }
  return { lines: [...explain(plan, call.program), ...(isRunning ? [] : [notRunning])], data: jsonOf(plan) };
}

function explain(
  { name, type, state, kind, times, timezone, message, to, session, next, last, failures, problem, fix }: PlanView,
  program: string,
): CliAnswer["lines"] {
  if (state === "error")
    return [
      ["state", `it does not run: ${problem ?? ""}`],
      ["fix", fix ?? ""],
    ];
  const paused = `paused: \`${program} schedules resume ${name}\` lets it run again`;
  const reason = last?.reason === undefined || last.reason === "" ? "" : ` (${last.reason})`;
  const ended = `${last?.outcome ?? "it runs or waits"}${reason}`;
  return [
    [type, name],
    ["state", state === "paused" ? paused : state === "done" ? "it will not run again" : "on"],
    ["times", `${times === undefined ? "" : timesText(times)} in ${timezone ?? ""}`],
    ...next.map(({ text }, index) => [index === 0 ? "next" : "", text]),
    ["does", kind === "say" ? "sends its message" : `asks the agent, session ${session ?? ""}`],
    ["to", to ?? "nowhere: `to` is not set"],
    ["message", (message ?? "").slice(0, 200)],
    ...(last === undefined
      ? [["last run", "none yet"]]
      : [
          ["last run", `${last.text}: ${ended}`],
          ["", `${program} why ${last.eventId}`],
        ]),
    ...(failures > 0 ? [["failed", `${failures} ${failures === 1 ? "time" : "times in a row"}`]] : []),
  ];
}
