import Type from "typebox";
import { thinkingSchema } from "./agents.ts";
import { previousTokenSchema, secretSchema, secretsSchema } from "./annotations.ts";
import { matchSchema } from "./hook-match.ts";
import { challengeSchema, signatureSchema } from "./hook-senders.ts";

const wakeMode = Type.Enum(["now", "next-heartbeat"], {
  description: "now: a heartbeat at once. next-heartbeat: wait for the next periodic one.",
});

/** Which agent runs, and where its reply goes. */
const direction = {
  agentId: Type.Optional(
    Type.String({ minLength: 1, description: "Agent that runs; subject to hooks.allowedAgentIds. A template." }),
  ),
  channel: Type.Optional(
    Type.String({ minLength: 1, description: "Channel of the reply: last, or a channel id. A template." }),
  ),
  to: Type.Optional(Type.String({ minLength: 1, description: "Recipient in that channel. A template." })),
};

const instructions = {
  minLength: 1,
  maxLength: 20_000,
  description:
    "What the agent should do with the content, in plain words and without templates. The model follows " +
    "these instructions; it treats messageTemplate and textTemplate as data.",
};

export const mappingSchema = Type.Object(
  {
    id: Type.Optional(Type.String({ minLength: 1, description: "Name of the mapping in logs and in `hooks list`." })),
    enabled: Type.Boolean({ default: true, description: "false: the mapping is left out." }),
    match: Type.Optional(matchSchema),
    method: Type.Optional(
      Type.Enum(["POST", "GET"], {
        description: "GET: for devices that cannot post; the payload is the query. POST when absent.",
      }),
    ),
    action: Type.Enum(["wake", "agent"], {
      default: "agent",
      description: "wake: a system event in the main session. agent: a turn of its own.",
    }),
    wakeMode: Type.Optional(wakeMode),
    name: Type.Optional(
      Type.String({ description: "Human-readable name of the hook, prefix of its summaries. A template." }),
    ),
    agentId: direction.agentId,
    sessionKey: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "Session of the run. A template; when something that it reads is missing, the run gets a session of its own.",
      }),
    ),
    sessionMode: Type.Optional(
      Type.Enum(["isolated", "persistent"], {
        description:
          "persistent: the key's transcript continues; the default of a run with a sessionKey. isolated: an " +
          "empty transcript.",
      }),
    ),
    messageTemplate: Type.Optional(
      Type.String({ description: "Message to the agent; {{ path.to.field }} reads the payload." }),
    ),
    instructions: Type.Optional(Type.String(instructions)),
    textTemplate: Type.Optional(Type.String({ description: "Text of a wake; {{ path.to.field }} reads the payload." })),
    deliver: Type.Optional(Type.Boolean({ description: "Whether the reply is sent to a chat; true when absent." })),
    channel: direction.channel,
    to: direction.to,
    platform: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "What the reply contains of a platform's own, by channel, such as protect_content; no template.",
      }),
    ),
    model: Type.Optional(Type.String({ minLength: 1, description: "provider/model, or an alias. A template." })),
    thinking: Type.Optional(thinkingSchema("How much the model thinks before it answers.")),
    timeoutSeconds: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 86_400, description: "Longest run, in seconds." }),
    ),
    allowUnsafeExternalContent: Type.Optional(
      Type.Boolean({
        description: "true omits the wrapper around content from outside. Only for trusted internal sources.",
      }),
    ),
    transform: Type.Optional(
      Type.Object(
        {
          module: Type.String({ minLength: 1, description: "File below hooks.transformsDir, as a relative path." }),
          export: Type.Optional(
            Type.String({ minLength: 1, description: "Name of the export; the default export when absent." }),
          ),
        },
        { description: "Code that decides the fields of the mapping." },
      ),
    ),
    forEach: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Payload path of a list, or payload if it is a list itself: one run for each of its elements.",
      }),
    ),
    deliverOnly: Type.Optional(
      Type.Boolean({
        description: "true: the rendered message is sent without an agent turn. Values in it are shown literally.",
      }),
    ),
    status: Type.Optional(
      Type.Enum([200, 201, 202, 204], { description: "Status of a success, for senders that require a specific one." }),
    ),
    body: Type.Enum(["json", "form", "text"], {
      default: "json",
      description: "Format of the request body. form: also multipart/form-data. text: also XML.",
    }),
    signature: Type.Optional(signatureSchema),
    challenge: Type.Optional(challengeSchema),
    token: Type.Optional(
      secretsSchema(
        "Token of this mapping, in place of hooks.token; a list while it is being replaced. Needs match.path.",
      ),
    ),
    addresses: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "IP addresses and CIDR ranges of the clients that may call this mapping; any when absent.",
      }),
    ),
  },
  { description: "Turns matching requests into an action." },
);

/** Settings for all mappings of a preset, set under the preset's name. Its plugin may declare more. */
export const presetSchema = Type.Object(
  {
    ...direction,
    instructions: Type.Optional(Type.String(instructions)),
    model: Type.Optional(Type.String({ minLength: 1, description: "Model of the runs." })),
    thinking: Type.Optional(thinkingSchema("How much the model thinks in these runs.")),
    allowUnsafeExternalContent: Type.Optional(
      Type.Boolean({ description: "true omits the wrapper around content from outside." }),
    ),
    signature: Type.Optional(
      Type.Object(signatureSchema.properties, {
        description: "Replaces the hook token on the path of the preset; checked on the raw body.",
      }),
    ),
  },
  { description: "Settings of a preset." },
);

export const hooksSchema = Type.Object(
  {
    enabled: Type.Boolean({
      default: false,
      description:
        "Enables the hook server. Needs hooks.token, a mapping with a signature or token of its own, or a preset " +
        "with a source of its own.",
    }),
    token: Type.Optional(
      secretSchema(
        "Secret of the hook endpoints; not the gateway's token. Absent: only mappings with a secret of their own work.",
      ),
    ),
    previousToken: Type.Optional(
      previousTokenSchema("The previous token, which stays valid for a time; `service tokens rotate hooks` writes it."),
    ),
    path: Type.String({ default: "/hooks", description: "Base path of the hook endpoints." }),
    defaultSessionKey: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: "Session of hook runs that name none; one conversation.",
      }),
    ),
    historyLimit: Type.Integer({
      minimum: 0,
      maximum: 1_000,
      default: 20,
      description: "How many user turns of its conversation the model receives in a hook run; 0: none.",
    }),
    allowRequestSessionKey: Type.Boolean({ default: false, description: "Whether a request may set sessionKey." }),
    allowedSessionKeyPrefixes: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), { description: "Explicit session keys must begin with one of these." }),
    ),
    allowedAgentIds: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: "Agents that a request may name. Absent, or with *: any. Empty: none.",
      }),
    ),
    presets: Type.Array(Type.String({ minLength: 1 }), { default: [], description: "Built-in mappings, by name." }),
    mappings: Type.Array(mappingSchema, {
      default: [],
      description: "Your own mappings; the first that matches takes the request.",
    }),
    transformsDir: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Directory of transform modules, inside `transforms` beside the config file.",
      }),
    ),
    transforms: Type.Object(
      {
        runtime: Type.Union([Type.Literal("sandbox"), Type.Literal("trusted")], {
          default: "sandbox",
          description:
            "Where transforms run: in an engine without access to this machine, or in a process with all of Node.",
        }),
        memoryMb: Type.Integer({
          minimum: 16,
          maximum: 2_048,
          default: 64,
          description: "Memory of a transform, in MB.",
        }),
        cpuMs: Type.Integer({
          minimum: 10,
          maximum: 60_000,
          default: 1_000,
          description: "CPU time of a call, in milliseconds.",
        }),
        timeoutSeconds: Type.Number({
          exclusiveMinimum: 0,
          maximum: 300,
          default: 5,
          description: "Total time of a call, including waits, in seconds.",
        }),
        network: Type.Boolean({
          default: false,
          description: "Whether transforms may send requests to public addresses.",
        }),
      },
      { default: {}, description: "How transform code runs, and its limits." },
    ),
    maxBodyBytes: Type.Integer({
      minimum: 1,
      maximum: 67_108_864,
      default: 262_144,
      description: "Largest request body, in bytes, inclusive.",
    }),
    exposeReplies: Type.Boolean({
      default: false,
      description: "Whether a holder of the hook token may read the agent's replies.",
    }),
  },
  { default: {}, description: "The hook server." },
);
