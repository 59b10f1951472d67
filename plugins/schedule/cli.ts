/** The commands of the plugin. Each imports its code when it runs, because a gateway loads this file at every start. */
import type { CliDefinition } from "service-gateway/sdk";

export const schedulesCli: CliDefinition = {
  name: "schedules",
  summary: "See, run and pause schedules and reminders.",
  commands: [
    {
      name: "list",
      summary: "List schedules and reminders, with their next and last runs.",
      example: "list",
      prepares: true,
      run: async (call) => (await import("./cli/list.ts")).listPlans(call),
    },
    {
      name: "run",
      args: ["<name>"],
      summary: "Run one now, beside its planned runs. Needs a running gateway.",
      example: "run morning",
      run: async (call) => (await import("./cli/change.ts")).runPlan(call),
    },
    {
      name: "pause",
      args: ["<name>"],
      summary: "Pause one until it is resumed, also over restarts.",
      example: "pause morning",
      run: async (call) => (await import("./cli/change.ts")).pausePlan(call, true),
    },
    {
      name: "resume",
      args: ["<name>"],
      summary: "Let a paused one run again from its next time on.",
      example: "resume morning",
      run: async (call) => (await import("./cli/change.ts")).pausePlan(call, false),
    },
    {
      name: "why",
      args: ["<name>"],
      summary: "Explain when one runs next, how its last run ended, and why it does not run.",
      example: "why morning",
      prepares: true,
      run: async (call) => (await import("./cli/list.ts")).explainPlan(call),
    },
  ],
};
