/** MCP servers of agents. The shape is that of other programs, so that an entry can be pasted. */
import { secretReference, Type } from "service-gateway/sdk";

const names = (description: string) => Type.Optional(Type.Array(Type.String({ minLength: 1 }), { description }));

const toolsSchema = Type.Object(
  {
    allow: names("The server's own names of the tools that are offered; `*` stands for any characters. Absent: all, empty: none."),
    deny: names("Names of tools that are not offered, also where `allow` names them."),
  },
  { additionalProperties: false, description: "Which tools of the server are offered." },
);

const approveSchema = Type.Union([Type.Enum(["never", "writes", "always"]), Type.Array(Type.String({ minLength: 1 }))], {
  expects: 'never, writes, always, or a list of names of tools such as ["delete_*"]',
  default: "writes",
  description:
    "Before which tools an owner is asked: never; writes: those that the server does not call read-only; always; or names of tools.",
});

const serverSchema = Type.Object(
  {
    command: Type.Optional(Type.String({ minLength: 1, description: "Program that speaks MCP on its standard streams." })),
    args: Type.Optional(Type.Array(Type.String(), { description: "Its arguments." })),
    env: Type.Optional(
      Type.Record(Type.String(), secretReference({ description: "One variable." }), {
        description: "Its environment, beside HOME, LOGNAME, PATH, SHELL, TERM and USER of the gateway.",
      }),
    ),
    cwd: Type.Optional(
      Type.String({
        pattern: "^(/|~/|~$)",
        expects: "an absolute path, or one that begins with ~/",
        description: "Directory that it runs in. Default: that of the gateway.",
      }),
    ),
    url: Type.Optional(
      Type.String({
        pattern: "^https?://[^\\s/]",
        expects: "an http or https address",
        description: "Address of an MCP server over HTTP, instead of a command.",
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), secretReference({ description: "One header." }), { description: "Headers of each request." }),
    ),
    type: Type.Optional(
      Type.Enum(["stdio", "http", "streamable-http", "sse"], {
        description: "How it is reached. Default: stdio with a command, http (Streamable HTTP) with an address; sse is the older protocol.",
      }),
    ),
    enabled: Type.Boolean({ default: true, description: "false: the server is left out." }),
    disabled: Type.Boolean({ default: false, description: "true: the same as `enabled: false`." }),
    tools: Type.Optional(toolsSchema),
    approve: approveSchema,
    timeoutSeconds: Type.Number({
      exclusiveMinimum: 0,
      maximum: 3_600,
      default: 60,
      description: "Longest call of one of its tools, in seconds.",
    }),
    required: Type.Boolean({
      default: false,
      description: "true: while it is down, turns of the agent fail instead of running without it.",
    }),
  },
  {
    whole: true,
    synonyms: { baseUrl: "url", serverUrl: "url", httpUrl: "url", cmd: "command", transport: "type", timeout: "timeoutSeconds" },
    description: "One MCP server: command, or url.",
  },
);

export const serversSchema = Type.Record(Type.String(), serverSchema, {
  description: "MCP servers whose tools the agent may use, by name.",
});

export type Servers = Type.Static<typeof serversSchema>;
