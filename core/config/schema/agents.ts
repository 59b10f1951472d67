import Type from "typebox";
import { annotate, chatWritable } from "./annotations.ts";
import { budgetSchema } from "./budget.ts";

export const thinkingSchema = (description: string) =>
  Type.Enum(["off", "minimal", "low", "medium", "high", "max"], { description });

const modelSchema = Type.Union(
  [
    Type.String({ minLength: 1 }),
    Type.Object(
      {
        primary: Type.String({ minLength: 1, description: "The model that is used first." }),
        fallbacks: Type.Array(Type.String({ minLength: 1 }), {
          default: [],
          description: "Tried in order when the first does not answer.",
        }),
      },
      { additionalProperties: false },
    ),
  ],
  annotate(chatWritable, {
    description: "provider/model or an alias; or { primary, fallbacks }. A chat may choose allowed models only.",
  }),
);

const every = annotate(
  { ...chatWritable, expects: "a time such as 90s, 30m, 2h or 1d, or 0" },
  {
    pattern: "^(0|[1-9][0-9]{0,5}(s|m|h|d))$",
    description: "Time between two heartbeats, such as 30m or 2h; 0 sets no timer.",
  },
);
const clock = { expects: "a time of day such as 08:30" };
const ackMaxChars = {
  ...chatWritable,
  minimum: 0,
  description: "How many characters may surround HEARTBEAT_OK in a reply that reports nothing.",
};
const target = { minLength: 1, description: "Where a heartbeat's reply goes: last, none, or a channel id." };

const heartbeatRest = {
  prompt: Type.Optional(Type.String({ ...chatWritable, minLength: 1, description: "Prompt of a heartbeat." })),
  to: Type.Optional(Type.String({ minLength: 1, description: "Recipient in the target channel." })),
  activeHours: Type.Optional(
    Type.Object(
      {
        start: Type.String(
          annotate(clock, { pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$", description: "First minute, HH:MM." }),
        ),
        end: Type.String(
          annotate(clock, {
            pattern: "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$",
            description: "End, HH:MM, exclusive; may be after midnight.",
          }),
        ),
        timezone: Type.Optional(Type.String({ minLength: 1, description: "IANA time zone. Default: the host's." })),
      },
      { ...chatWritable, description: "Heartbeats of the timer run in these hours only." },
    ),
  ),
};

const heartbeatSchema = Type.Object(
  {
    every: Type.String({ ...every, default: "30m" }),
    ackMaxChars: Type.Integer({ ...ackMaxChars, default: 300 }),
    target: Type.String({ ...target, default: "last" }),
    ...heartbeatRest,
  },
  { default: {}, description: "Periodic turns of the main session." },
);

// No defaults here: missing settings of an agent come from agents.defaults, not from the schema.
const agentHeartbeatSchema = Type.Object(
  {
    every: Type.Optional(Type.String(every)),
    ackMaxChars: Type.Optional(Type.Integer(ackMaxChars)),
    target: Type.Optional(Type.String(target)),
    ...heartbeatRest,
  },
  { description: "Heartbeat of this agent; missing settings come from agents.defaults." },
);

const toolNames = (description: string, fallback: readonly string[]) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1 }), annotate({ fallback }, { description })));

/** Where it is wrong, nothing is allowed: a misspelt list must not open what it was to close. */
const toolsSchema = Type.Object(
  {
    allow: toolNames(
      "Names of the tools that the agent has; `*` stands for any characters. Absent: all, empty: none.",
      [],
    ),
    deny: toolNames("Names of tools that it does not have, also where `allow` names them.", ["*"]),
    approve: toolNames("Names of tools that run only if an owner allows the call.", ["*"]),
    approveAt: Type.Optional(
      Type.String({
        pattern: "^[a-z][a-z0-9-]*:.+$",
        description:
          "Where an owner is asked in a turn that no person began, as <channel>:<recipient>. Absent: such a " +
          "call is denied.",
      }),
    ),
  },
  annotate({ fallback: { allow: [] } }, { description: "Which tools the agent may use." }),
);

const skillsSchema = Type.Array(
  Type.String({ minLength: 1 }),
  annotate({ fallback: [] }, { description: "Skills the agent may read; absent: all, empty: none." }),
);

const allowedModelsSchema = Type.Union(
  [
    Type.Array(Type.String({ minLength: 1 })),
    Type.Record(
      Type.String(),
      Type.Object({ alias: Type.Optional(Type.String({ minLength: 1, description: "Short name of the model." })) }),
    ),
  ],
  annotate(
    { fallback: [] },
    {
      description:
        "Models that webhooks and chats may select: a list of provider/model, or a map of provider/model to " +
        "{ alias }; absent: any, empty: none.",
    },
  ),
);

const historyTurns = {
  minimum: 0,
  maximum: 10_000,
  description:
    "User turns of a conversation that the model sees; dmHistoryLimit and dms of a channel take precedence " +
    "in direct chats.",
};

const patienceHours = {
  minimum: 0,
  maximum: 168,
  description: "Hours that a turn which no person watches waits for a model that does not answer; 0: it fails at once.",
};

const compactionSchema = Type.Optional(
  Type.Object(
    {
      enabled: Type.Optional(
        Type.Boolean({ description: "false: what no longer fits is left out without a summary. Default: true." }),
      ),
      at: Type.Optional(
        Type.Number({
          ...chatWritable,
          minimum: 0.2,
          maximum: 0.95,
          description: "Share of the model's context from which on the older part is summarized. Default: 0.75.",
        }),
      ),
      keepTurns: Type.Optional(
        Type.Integer({
          ...chatWritable,
          minimum: 1,
          maximum: 1_000,
          description: "User turns that stay word for word, as far as half of the context has room. Default: 10.",
        }),
      ),
      model: Type.Optional(
        Type.String({ minLength: 1, description: "Model that writes the summaries. Default: the one of the turn." }),
      ),
    },
    { description: "Summaries of the older part of a conversation." },
  ),
);

const common = {
  engine: Type.Optional(
    Type.String({ minLength: 1, description: "Engine plugin that runs the turns; chosen by the model when absent." }),
  ),
  model: Type.Optional(modelSchema),
  models: Type.Optional(allowedModelsSchema),
  thinking: Type.Optional({ ...thinkingSchema("How much the model thinks before it answers."), ...chatWritable }),
  workspace: Type.Optional(
    Type.String({
      minLength: 1,
      description: "Directory with skills, HEARTBEAT.md and files of the agent. ~ is the home directory.",
    }),
  ),
  systemPrompt: Type.Optional(
    Type.String({ ...chatWritable, minLength: 1, description: "Instructions of the agent." }),
  ),
  skills: Type.Optional(skillsSchema),
  tools: Type.Optional(toolsSchema),
  budget: budgetSchema,
  compaction: compactionSchema,
};

const defaultsSchema = Type.Object(
  {
    ...common,
    maxConcurrent: Type.Integer({
      minimum: 1,
      maximum: 1_024,
      default: 4,
      description: "Turns that run at once, over all lanes.",
    }),
    timeoutSeconds: Type.Number({
      exclusiveMinimum: 0,
      maximum: 86_400,
      default: 600,
      description: "Longest turn, in seconds.",
    }),
    historyTurns: Type.Integer({ ...historyTurns, default: 100 }),
    patienceHours: Type.Number({ ...patienceHours, default: 6 }),
    timezone: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "IANA time zone of set times, such as those of reminders: Europe/Berlin. Default: the host's. A " +
          "sender's own (/timezone) takes precedence.",
      }),
    ),
    heartbeat: heartbeatSchema,
  },
  annotate({ fallback: { models: [] } }, { default: {}, description: "Defaults for every agent." }),
);

const agentSchema = Type.Object(
  {
    id: Type.String(
      annotate(
        { expects: "an id of a-z, 0-9, _ and -, at most 64 characters" },
        { pattern: "^[a-z0-9][a-z0-9_-]{0,63}$", description: "Name in session keys and bindings: a-z, 0-9, _ and -." },
      ),
    ),
    default: Type.Optional(
      Type.Boolean({
        description:
          "true: this agent handles everything that no binding assigns to another. Default: the first agent " +
          "of the list.",
      }),
    ),
    name: Type.Optional(
      Type.String({ ...chatWritable, minLength: 1, description: "Name by which people address it." }),
    ),
    ...common,
    historyTurns: Type.Optional(Type.Integer(historyTurns)),
    patienceHours: Type.Optional(Type.Number(patienceHours)),
    timeoutSeconds: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 86_400, description: "Longest turn, in seconds." }),
    ),
    heartbeat: Type.Optional(agentHeartbeatSchema),
    identity: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Type.String({ minLength: 1, description: "Name the agent gives itself." })),
          emoji: Type.Optional(
            Type.String({ description: "Its emoji, also the acknowledgement when nothing else is set." }),
          ),
        },
        { ...chatWritable, description: "How the agent presents itself." },
      ),
    ),
    groupChat: Type.Optional(
      Type.Object(
        {
          mentionPatterns: Type.Optional(
            Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
              ...chatWritable,
              description: "Regular expressions that count as a mention of this agent.",
            }),
          ),
        },
        { description: "Behaviour in groups." },
      ),
    ),
  },
  { description: "One agent." },
);

export const agentsSchema = Type.Object(
  {
    defaults: defaultsSchema,
    list: Type.Array(agentSchema, { default: [], description: "The agents. An empty list means one agent, `main`." }),
  },
  { default: {}, description: "The agents." },
);

export const bindingsSchema = Type.Array(
  Type.Object(
    {
      agentId: Type.String({ minLength: 1, description: "Agent that answers." }),
      match: Type.Object(
        {
          channel: Type.String({ minLength: 1, description: "Channel id." }),
          accountId: Type.Optional(Type.String({ minLength: 1, description: "Account of the channel." })),
          peer: Type.Optional(
            Type.Object(
              {
                kind: Type.Enum(["direct", "group", "channel"], { description: "Kind of chat." }),
                id: Type.String({ minLength: 1, description: "Chat id, or sender id of a direct chat." }),
              },
              { description: "One chat." },
            ),
          ),
          threadId: Type.Optional(Type.String({ minLength: 1, description: "Thread or topic of the chat." })),
        },
        { description: "Where a message must come from." },
      ),
    },
    annotate({ whole: true }, { description: "The most specific binding that matches chooses the agent." }),
  ),
  { default: [], description: "Which agent handles which messages." },
);
