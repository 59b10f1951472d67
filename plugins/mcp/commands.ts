/** What the commands do: they ask the running gateway, and `test` starts the server itself. */
import type { CliAnswer, CliCall, Json } from "service-gateway/sdk";
import { openConnection } from "./connection.ts";
import { plain, ServerFault } from "./fault.ts";
import type { Doubt } from "./fingerprints.ts";
import { isOffered } from "./offer.ts";
import type { serversSchema } from "./section.ts";
import type { Accepting } from "./serving.ts";
import { definitionOf, type ServerSettings, serversIn, shownAddress, shownCommand, shownPlace } from "./settings.ts";
import type { ServerView } from "./view.ts";

const failed = (...lines: readonly string[]): CliAnswer => ({ lines, data: null, failed: true });

interface Configured {
  readonly name: string;
  readonly settings: ServerSettings;
  readonly agents: readonly string[];
}

/** The servers of the configuration, each listed once. */
async function configured(call: CliCall): Promise<readonly Configured[]> {
  const section = await call.section<typeof serversSchema>("mcpServers");
  const found = new Map<string, Configured>();
  for (const [agent, servers] of serversIn(section))
    for (const [name, settings] of servers) {
      const agents = found.get(settings.path)?.agents ?? [];
      found.set(settings.path, { name, settings, agents: [...agents, agent] });
    }
  return [...found.values()];
}

async function running(call: CliCall): Promise<readonly ServerView[] | undefined> {
  const gateway = await call.gateway();
  if (gateway === undefined) return undefined;
  const { servers } = (await gateway.call("GET", "servers")) as unknown as { readonly servers: readonly ServerView[] };
  return servers;
}

const none = "No agent has an MCP server. Set agents.defaults.mcpServers.";

export async function listServers(call: CliCall): Promise<CliAnswer> {
  const views = await running(call);
  if (views === undefined) {
    const found = await configured(call);
    if (found.length === 0) return { lines: [none], data: [] };
    const rows = found.map(({ name, settings, agents }) => [
      name,
      "not running",
      settings.command === undefined
        ? shownAddress(settings.url ?? "")
        : shownCommand({ command: settings.command, ...(settings.args && { args: settings.args }) }),
      agents.join(", "),
    ]);
    const data = found.map(({ name, settings, agents }) => ({
      name,
      path: settings.path,
      agents,
      state: "not_running",
    }));
    return {
      lines: [["name", "state", "command or address", "agents"], ...rows, "No gateway is running."],
      data: data as unknown as Json,
    };
  }
  if (views.length === 0) return { lines: [none], data: [] };
  const rows = views.map(({ name, state, tools, place, server = "", agents }) => [
    name,
    state,
    `${tools.filter(({ offered }) => offered).length} of ${tools.length} tools`,
    place,
    server,
    agents.join(", "),
  ]);
  const notes = views.flatMap(({ name, reason, fix, tools }) => [
    ...(reason === ""
      ? []
      : [
          `${name}: ${[reason, fix]
            .filter((text) => text !== "")
            .map(ended)
            .join(" ")}`,
        ]),
    ...tools.flatMap(({ name: tool, refused = [] }) =>
      refused.map(
        ({ model, reason }) =>
          `${name}: ${tool} is left out for ${model}, whose server does not accept it: ${ended(reason)}`,
      ),
    ),
    ...(["changed", "new", "unknown"] as const)
      .filter((kind) => tools.some(({ doubt }) => doubt === kind))
      .map((kind) => `${name}: ${doubted[kind]}. ${call.program} mcp tools ${name} shows them.`),
  ]);
  return {
    lines: [["name", "state", "offers", "command or address", "server", "agents"], ...rows, ...notes],
    data: views as unknown as Json,
  };
}

const doubted: Readonly<Record<Doubt, string>> = {
  changed: "it has changed tools",
  new: "it has new tools, which were not accepted",
  unknown: "it has tools of which it is not known whether they were accepted",
};

const ended = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

export async function listTools(call: CliCall): Promise<CliAnswer> {
  const views = await running(call);
  if (views === undefined)
    return failed("No gateway is running.", `${call.program} mcp test NAME starts a server by itself.`);
  const [name] = call.args;
  const chosen = views.filter((view) => name === undefined || view.name === name);
  if (chosen.length === 0) return failed(name === undefined ? none : unknown(name, views));
  const rows = chosen.flatMap(({ tools }) =>
    tools.map(({ name: tool, description, offered, asks, doubt, refused = [] }) => [
      tool,
      !offered
        ? "left out"
        : refused.length > 0
          ? `refused by ${refused.map(({ model }) => model).join(", ")}`
          : doubt !== undefined
            ? `${doubt}, asks an owner`
            : asks
              ? "asks an owner"
              : "",
      description,
    ]),
  );
  const changes = chosen.flatMap((view) => changesOf(view, call.program));
  const refusals = chosen.flatMap(({ tools }) =>
    tools.flatMap(({ name: tool, refused = [] }) =>
      refused.map(
        ({ model, reason }) => `${tool} is left out for ${model}, whose server does not accept it: ${ended(reason)}`,
      ),
    ),
  );
  const missing = chosen
    .filter(({ state }) => state !== "ready")
    .map((view) => `${view.name} is ${view.state}. ${ended(view.reason)}`);
  const data = chosen.flatMap(({ name: server, tools }) => tools.map((tool) => ({ server, ...tool })));
  return {
    lines: [
      ...(rows.length === 0 ? ["There are no tools."] : [["tool", "", ""], ...rows]),
      ...changes,
      ...refusals,
      ...missing,
    ],
    data,
  };
}

/** What an operator accepts, and the command that accepts just that. */
function changesOf({ name, tools, listing }: ServerView, command: string): readonly string[] {
  const shown = tools.flatMap(({ name: tool, now }) =>
    now === undefined
      ? []
      : [`${tool} is now described as: ${now.description}`, `Its parameters are now: ${now.parameters}`],
  );
  return shown.length === 0
    ? []
    : [...shown, `To accept the tools of ${name} as they are shown: ${command} mcp accept ${name} ${listing}`];
}

const unknown = (name: string, known: readonly { readonly name: string }[]): string =>
  `No agent has an MCP server with the name ${name}. There are: ` +
  `${[...new Set(known.map((one) => one.name))].join(", ") || "none"}.`;

export async function testServer(call: CliCall): Promise<CliAnswer> {
  const [name = ""] = call.args;
  const all = await configured(call);
  const found = all.find((one) => one.name === name);
  if (found === undefined) return failed(unknown(name, all));
  const section = await call.section<typeof serversSchema>("mcpServers");
  const definition = definitionOf(found.settings, section.secret);
  const noise: string[] = [];
  const began = performance.now();
  const onLine = (line: string, from: "stderr" | "stdout") =>
    void (from === "stdout" && noise.length < 5 && noise.push(line));
  const events = { onLine, onToolsChanged: () => {}, onEnded: () => {} };
  try {
    const connection = await call.progress(
      `Starting ${shownPlace(definition)}`,
      openConnection(definition, events, call.signal),
    );
    try {
      const tools = await connection.list(call.signal);
      const ms = Math.round(performance.now() - began);
      const { server, protocol } = connection;
      const rows = tools.map((tool) => [
        plain(tool.name),
        isOffered(tool, found.settings) ? "" : "left out",
        tool.readOnly ? "read-only" : "",
      ]);
      return {
        lines: [
          `${name} works: ${server.name} ${server.version}, protocol ${protocol}, ${tools.length} tools, ${ms} ms.`,
          ...rows,
          ...(noise.length === 0
            ? []
            : [`It wrote lines to standard output that are not messages, such as: ${noise[0]}`]),
        ],
        data: { ok: true, name, server, protocol, ms, tools: tools.map((tool) => tool.name), noise },
      };
    } finally {
      await connection.close();
    }
  } catch (thrown) {
    if (!(thrown instanceof ServerFault)) throw thrown;
    const lines = [
      `${name} (${found.settings.path}) does not work: ${ended(thrown.message)}`,
      ...(thrown.fix === "" ? [] : [ended(thrown.fix)]),
    ];
    return { lines, data: { ok: false, name, error: thrown.message, fix: thrown.fix }, failed: true };
  }
}

async function post(call: CliCall, path: string): Promise<readonly Json[] | undefined> {
  const gateway = await call.gateway();
  if (gateway === undefined) return undefined;
  const [name = "", listing] = call.args;
  const body: Record<string, Json> = listing === undefined ? { name } : { name, listing };
  const { results } = (await gateway.call("POST", path, body)) as { readonly results: readonly Json[] };
  return results;
}

const noGateway = "No gateway is running. Its servers start with it.";

export async function acceptTools(call: CliCall): Promise<CliAnswer> {
  const results = await post(call, "accept");
  if (results === undefined) return failed(noGateway);
  const servers = results as unknown as readonly Accepting[];
  const accepted = servers.flatMap((one) => one.accepted ?? []);
  if (accepted.length > 0)
    return { lines: [`Accepted: ${[...new Set(accepted.map(plain))].join(", ")}.`], data: results };
  const changes = servers.flatMap((one) => changesOf(one, call.program));
  if (changes.length === 0) return { lines: ["No tool is new or has changed."], data: results };
  const stale =
    call.args[1] === undefined
      ? []
      : ["Nothing was accepted: the tools are no longer those that were shown. They are now:"];
  return { lines: [...stale, ...changes], data: results, failed: true };
}

export async function restartServer(call: CliCall): Promise<CliAnswer> {
  const results = await post(call, "restart");
  if (results === undefined) return failed(noGateway);
  const views = results as unknown as readonly ServerView[];
  const lines = views.map(({ name, state, tools, reason, fix }) =>
    state === "ready"
      ? `${name} is ready, with ${tools.length} tools.`
      : `${name} is ${state}: ${[reason, fix].filter(Boolean).map(ended).join(" ")}`,
  );
  return { lines, data: results, failed: views.some(({ state }) => state !== "ready") };
}
