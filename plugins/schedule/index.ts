/** Schedules of the configuration, and reminders that people ask the agent for. */
import { definePlugin } from "service-gateway/sdk";
import { schedulesCli } from "./cli.ts";
import { codes } from "./codes.ts";
import { schedulesSchema } from "./section.ts";
import { setUpSchedules } from "./setup.ts";

export default definePlugin({
  id: "schedule",
  version: "1.0.0",
  host: "^0.2.0",
  codes,
  cli: schedulesCli,
  section: {
    key: "schedules",
    otherNames: ["cron"],
    schema: schedulesSchema,
    check: async (settings, around) => (await import("./check.ts")).checkSchedules(settings, around),
  },
  setup: setUpSchedules,
});
