/** What runs, when and where: a schedule of the configuration or a reminder, in one form. */
import type { Address } from "service-gateway/sdk";
import type { Schedules } from "./section.ts";

/** When it runs; one of the three. */
export type Times = { readonly cron: string } | { readonly every: string } | { readonly at: string };

/** A person who asked for a reminder, and where. */
export interface Asker {
  readonly id: string;
  readonly name?: string;
  readonly chatKind: "direct" | "group" | "channel";
  readonly chatTitle?: string;
}

export interface Plan {
  /** `schedule:<name>` or `reminder:<id>`: also its key in the store. */
  readonly key: string;
  /** The name in the configuration, or the reminder's id. */
  readonly name: string;
  readonly times: Times;
  readonly timezone: string;
  /** `say`: the message is sent. `ask`: the agent takes a turn with it. */
  readonly kind: "say" | "ask";
  readonly message: string;
  readonly agent?: string;
  /** Absent: the main session of the agent. */
  readonly sessionKey?: string;
  /** Absent: the reply is sent nowhere. An empty account is the first one of the channel. */
  readonly to?: Address;
  /** Set for reminders: the policy of the chat decides about this person when the reminder is due. */
  readonly asker?: Asker;
  readonly ifMissed: "run-once" | "skip" | "tell";
  /** How late a missed run may begin; absent: at any time. */
  readonly graceMs?: number;
}

/** The newest run. */
export interface LastRun {
  readonly planned: number;
  readonly at: number;
  readonly eventId: string;
  /** Absent while it runs or waits. */
  readonly outcome?: string;
  readonly reason?: string;
}

/** What is kept of a plan from run to run. */
export interface Progress {
  /** Identifies the times that `due` was computed from. */
  readonly times: string;
  /** Start of the intervals of `every`, in epoch milliseconds. */
  readonly anchor: number;
  /** `null`: it will not run again. */
  readonly due: number | null;
  readonly paused?: true;
  readonly last?: LastRun;
  /** Failed runs since the last success. */
  readonly failures?: number;
}

/** A value in the store. The plan of a schedule is in the configuration. */
export type StoredPlan = Progress & {
  readonly plan?: Plan;
  /** The call of the tool that created it. */
  readonly call?: string;
  /** Who asked for it, where `service privacy` looks for people. */
  readonly by?: { readonly channel: string; readonly senderId: string };
};

/** Settings of `schedules.<name>`, checked by the schema. */
export type ScheduleSettings = Schedules[string];

export const schedulePrefix = "schedule:";
export const reminderPrefix = "reminder:";

/** The times of a schedule; `undefined` unless exactly one of the three is set. */
export function timesOf({ cron, every, at }: Pick<ScheduleSettings, "cron" | "every" | "at">): Times | undefined {
  const given = [
    ...(cron === undefined ? [] : [{ cron }]),
    ...(every === undefined ? [] : [{ every }]),
    ...(at === undefined ? [] : [{ at }]),
  ];
  return given.length === 1 ? given[0] : undefined;
}

/** Reads a place such as `botchat:-100123:topic:7`; `undefined` if it names no channel and chat. */
export function placeIn(text: string, account = ""): Address | undefined {
  const [, channel, chat, thread] = /^([a-z][a-z0-9-]{0,63}):(\S.*?)(?::topic:(\S+))?$/.exec(text.trim()) ?? [];
  if (channel === undefined || chat === undefined) return undefined;
  return { channel, account, chat, thread };
}

/** The plan of a schedule. Call it for settings without problems only. */
export function planOf(name: string, settings: ScheduleSettings, timezone: string): Plan {
  const to = settings.to === undefined ? undefined : placeIn(settings.to, settings.account);
  return {
    key: `${schedulePrefix}${name}`,
    name,
    times: timesOf(settings) ?? { at: "" },
    timezone: settings.timezone ?? timezone,
    kind: settings.kind,
    message: settings.message,
    agent: settings.agent,
    ...(settings.session === "own" ? { sessionKey: `schedule:${name}` } : {}),
    to,
    ifMissed: settings.ifMissed,
    graceMs: settings.graceMinutes * 60_000,
  };
}

/** Changes when `due` must be computed again. */
export const fingerprint = ({ times, timezone }: Pick<Plan, "times" | "timezone">): string =>
  JSON.stringify([times, timezone]);

/** What people call it. */
export const titleOf = ({ key, name }: Pick<Plan, "key" | "name">): string =>
  key.startsWith(reminderPrefix) ? `reminder ${name}` : `schedule ${name}`;
