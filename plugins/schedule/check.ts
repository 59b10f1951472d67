/** Finds what is wrong with `schedules` that the schema cannot find. */
import type { PluginDefinition } from "service-gateway/sdk";
import { placeIn, type ScheduleSettings, timesOf } from "./plan.ts";
import type { Schedules } from "./section.ts";
import { timesProblem } from "./times.ts";

type Check = NonNullable<NonNullable<PluginDefinition["section"]>["check"]>;
type Around = Parameters<Check>[1];
/** Where the agents and channels are unknown, they are not checked. */
export type Known = Pick<Around, "timezone" | "now"> & Partial<Around>;
export type Found = Awaited<ReturnType<Check>>[number];

export function checkSchedules(schedules: Schedules, around: Known): readonly Found[] {
  return Object.entries(schedules).flatMap(([name, settings]) =>
    settings.enabled ? problemsOf(settings, around).map((found) => ({ ...found, path: [name, ...found.path] })) : [],
  );
}

function problemsOf(settings: ScheduleSettings, around: Known): readonly Found[] {
  return [...whenProblems(settings, around), ...placeProblems(settings, around), ...agentProblems(settings, around)];
}

function whenProblems(settings: ScheduleSettings, { timezone, now }: Known): readonly Found[] {
  const times = timesOf(settings);
  if (times === undefined) {
    const given = [settings.cron, settings.every, settings.at].filter((one) => one !== undefined).length;
    const hint = "Set one of them, such as cron: 0 8 * * 1-5.";
    return [
      {
        path: [],
        message: given === 0 ? "has none of cron, every and at" : "has more than one of cron, every and at",
        hint,
      },
    ];
  }
  const problem = timesProblem(times, settings.timezone ?? timezone, now);
  if (problem === undefined) return [];
  const { key, message, hint, isPast } = problem;
  return [{ path: [key], message, hint, ...(isPast && { warning: true }) }];
}

function placeProblems({ kind, to, account }: ScheduleSettings, { channels }: Known): readonly Found[] {
  if (to === undefined) {
    if (kind === "say")
      return [
        {
          path: ["to"],
          message: "is missing, and kind say needs it",
          hint: "Set it to a channel and a chat, such as botchat:42.",
        },
      ];
    if (account === undefined) return [];
    return [{ path: ["account"], message: "is set, but to is not", hint: "Set to as well, or remove account." }];
  }
  const place = placeIn(to);
  const given = `is ${JSON.stringify(to)}`;
  if (place === undefined)
    return [
      {
        path: ["to"],
        message: `${given}, but must be a channel and a chat`,
        hint: "Write it as botchat:42, with a topic as botchat:-100123:topic:7.",
      },
    ];
  if (place.chat === "last" || place.channel === "last")
    return [
      {
        path: ["to"],
        message: `${given}, but must name a chat`,
        hint: "A schedule always writes to the same place: name its chat, such as botchat:42.",
      },
    ];
  if (channels === undefined || channels.includes(place.channel)) return [];
  const hint = `Write one of the channels of the configuration: ${channels.join(", ") || "there is none"}.`;
  return [{ path: ["to"], message: `${given}, and channels has no ${place.channel}`, hint }];
}

function agentProblems({ agent }: ScheduleSettings, { agents }: Known): readonly Found[] {
  if (agent === undefined || agents === undefined || agents.includes(agent)) return [];
  return [
    {
      path: ["agent"],
      message: `is ${JSON.stringify(agent)}, which is not an agent`,
      hint: `The agents are ${agents.join(", ")}.`,
    },
  ];
}
