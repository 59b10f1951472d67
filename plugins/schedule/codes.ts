/** Why a planned run did not take place. */
import type { CodeDefinition } from "service-gateway/sdk";

export const codes = {
  schedule_missed: {
    meaning: "The gateway was not running at the planned time, and the run was not made up.",
    hint: "ifMissed and graceMinutes of the schedule decide what happens to missed runs.",
    outcome: "silent",
  },
  schedule_still_running: {
    meaning: "The run before had not ended at the planned time, so this one was left out.",
    hint: "Plan the runs further apart, or lower agents.defaults.timeoutSeconds.",
    outcome: "silent",
  },
  schedule_removed: {
    meaning: "The schedule or reminder was removed before its run began.",
    hint: "Nothing is to be done if that was intended.",
    outcome: "silent",
  },
} as const satisfies Readonly<Record<string, CodeDefinition>>;

export type ScheduleCode = keyof typeof codes;
