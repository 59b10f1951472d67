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
  schedule_unknown: {
    meaning: "There is no enabled schedule and no reminder of this name.",
    hint: "`{command} schedules list` shows all.",
  },
  schedule_faulty: {
    meaning: "The schedule has an error in the configuration.",
    hint: "`{command} config validate` shows it.",
  },
  no_chat: {
    meaning: "A reminder was asked for in a turn that no person caused in a chat.",
    hint: "Ask for it in a chat.",
  },
  text_invalid: { meaning: "The text of a reminder is empty or too long.", hint: "Use 1 to 4000 characters." },
  time_missing: { meaning: "A reminder needs exactly one of at, in and cron.", hint: "Name one time." },
  time_invalid: {
    meaning: "The time of a reminder cannot be read.",
    hint: "Write it as 2027-03-01T09:00, 30m, or a cron expression of five fields.",
  },
  time_past: { meaning: "The time of a reminder is in the past.", hint: "Name a later time." },
  timezone_unknown: {
    meaning: "There is no such time zone.",
    hint: "Use a name of the IANA database, such as Europe/Berlin.",
  },
  too_many_reminders: {
    meaning: "The chat has 50 reminders, or the person has 100 in all chats, the most that are allowed.",
    hint: "Cancel one: /reminders.",
  },
  reminder_unknown: { meaning: "The chat has no reminder with this id.", hint: "/reminders shows those that it has." },
} as const satisfies Readonly<Record<string, CodeDefinition>>;

export type ScheduleCode = keyof typeof codes;
