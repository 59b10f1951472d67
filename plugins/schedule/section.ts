/** The section `schedules`: what the gateway says or asks at set times. */
import { Type } from "service-gateway/sdk";

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

const scheduleSchema = Type.Object(
  {
    enabled: Type.Boolean({ default: true, description: "false: the schedule does not run." }),
    cron: text("Times as a cron expression of five fields, such as 0 8 * * 1-5. Set one of cron, every and at."),
    every: Type.Optional(
      Type.String({
        pattern: "^[1-9][0-9]{0,5}(m|h|d)$",
        expects: "a time such as 30m, 2h or 1d",
        description: "Time between two runs, such as 30m, 2h or 1d, counted from the first start.",
      }),
    ),
    at: text(
      "The one time at which it runs, such as 2027-03-01T09:00 in the schedule's time zone, or with a zone: " +
        "2027-03-01T09:00+01:00.",
    ),
    timezone: text(
      "IANA time zone of cron and at, such as Europe/Berlin. Default: agents.defaults.timezone, else the host's.",
    ),
    kind: Type.Enum(["ask", "say"], {
      default: "ask",
      description:
        "ask: the agent takes a turn with the message. say: the message itself is sent to `to`, without a model.",
    }),
    message: Type.String({ minLength: 1, maxLength: 20_000, description: "What the agent is asked, or what is sent." }),
    agent: text("Agent that takes the turn. Default: the default agent."),
    session: Type.Enum(["own", "main"], {
      default: "own",
      description: "own: a conversation of the schedule's own, with its last 20 runs. main: the agent's main session.",
    }),
    to: text(
      "Place of the reply: a channel and a chat, as CHANNEL:CHAT, and a topic: CHANNEL:CHAT:topic:ID. " +
        "Absent: the reply is sent nowhere.",
    ),
    account: text("Account of the channel in `to`. Default: the channel's first account."),
    ifMissed: Type.Enum(["run-once", "skip", "tell"], {
      default: "run-once",
      description:
        "What happens when the gateway was not running at a planned time. run-once: one run at the next " +
        "start, within graceMinutes. tell: a notice instead of a run. skip: nothing.",
    }),
    graceMinutes: Type.Integer({
      minimum: 0,
      maximum: 525_600,
      default: 60,
      description: "With run-once: how late a missed run may still begin, in minutes.",
    }),
  },
  // Half a schedule would run at other times, or send its text elsewhere.
  { whole: true, description: "One schedule: cron, every or at, and a message." },
);

export const schedulesSchema = Type.Record(
  Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$" }),
  scheduleSchema,
  {
    default: {},
    description: "What the agent does at set times, by a name of letters, digits, _ and -.",
  },
);

export type Schedules = Type.Static<typeof schedulesSchema>;
