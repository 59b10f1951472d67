/** The section `mcpServers` of the agents. The shape is that of other programs, so that an entry can be pasted. */
import { type PluginDefinition, secretReference, Type } from "service-gateway/sdk";

const names = (description: string) => Type.Optional(Type.Array(Type.String({ minLength: 1 }), { description }));

const toolsSchema = Type.Object(
  {
    allow: names(
      "The server's own names of the tools that are offered; `*` stands for any characters. Absent: all, empty: none.",
    ),
    deny: names("Names of tools that are not offered, also where `allow` names them."),
  },
  { additionalProperties: false, description: "Which tools of the server are offered." },
);

const approveSchema = Type.Union(
  [Type.Enum(["never", "writes", "always"]), Type.Array(Type.String({ minLength: 1 }))],
  {
    expects: 'never, writes, always, or a list of names of tools such as ["delete_*"]',
    default: "writes",
    description:
      "Before which tools an owner is asked: never; writes: those that the server does not call read-only; " +
      "always; or names of tools.",
  },
);

const serverSchema = Type.Object(
  {
    command: Type.Optional(
      Type.String({ minLength: 1, description: "Program that speaks MCP on its standard streams." }),
    ),
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
      Type.Record(Type.String(), secretReference({ description: "One header." }), {
        description: "Headers of each request.",
      }),
    ),
    type: Type.Optional(
      Type.Enum(["stdio", "http", "streamable-http", "sse"], {
        description:
          "How it is reached. Default: stdio with a command, http (Streamable HTTP) with an address; sse is " +
          "the older protocol.",
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
    synonyms: {
      baseUrl: "url",
      serverUrl: "url",
      httpUrl: "url",
      cmd: "command",
      transport: "type",
      timeout: "timeoutSeconds",
    },
    description: "One MCP server: command, or url.",
  },
);

export const serversSchema = Type.Record(Type.String(), serverSchema, {
  description: "MCP servers whose tools the agent may use, by name.",
});

export type Servers = Type.Static<typeof serversSchema>;

type Check = NonNullable<NonNullable<PluginDefinition["section"]>["check"]>;
type Found = Awaited<ReturnType<Check>>[number];
type Address = Pick<Servers[string], "command" | "url" | "type" | "headers">;

/** Finds what is wrong with the servers of an agent that the schema cannot find. */
export function checkServers(servers: Servers): readonly Found[] {
  return Object.entries(servers).flatMap(([name, server]): readonly Found[] => {
    const problem = serverProblem(server);
    if (problem !== undefined) return [{ path: [name], ...problem }];
    if (!sendsKeyInTheClear(server)) return [];
    const message = "sends what the server is given, such as a key, without encryption to another machine";
    return [{ path: [name, "url"], message, hint: "Use https, or a server on this machine.", warning: true }];
  });
}

/** Why a server cannot be reached. It is left out then, so that no other one is taken for it. */
export function serverProblem({ command, url, type }: Address): Pick<Found, "message" | "hint"> | undefined {
  if (command === undefined && url === undefined)
    return {
      message: "has neither a command nor a url",
      hint: "Set command to the program that speaks MCP, or url to the address of the server.",
    };
  if (command !== undefined && url !== undefined)
    return { message: "has both a command and a url", hint: "Remove one of them." };
  if (type === undefined || (type === "stdio") === (command !== undefined)) return undefined;
  const message = `has the type ${type}, which does not fit its ${command === undefined ? "url" : "command"}`;
  return { message, hint: "Remove type, or correct it." };
}

function sendsKeyInTheClear({ url = "", headers = {} }: Address): boolean {
  const address = URL.parse(url);
  if (address?.protocol !== "http:") return false;
  const { username, password, searchParams } = address;
  const hasKey = username + password !== "" || [...searchParams.keys()].some((name) => /key|token|secret/i.test(name));
  if (!hasKey && Object.keys(headers).length === 0) return false;
  return !/^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:.*\.)?localhost)$/.test(address.hostname);
}
