/** What an agent is offered for a turn: the tools of its servers, and a word about those that are away. */
import type { Json } from "service-gateway/sdk";
import { namesTool } from "service-gateway/sdk/tools";
import type { SourcedTool, ToolOffer } from "./contract.ts";
import type { Doubt, Fingerprints } from "./fingerprints.ts";
import type { ListedTool } from "./listed-tool.ts";
import { modelName } from "./names.ts";
import type { Server } from "./server.ts";
import type { ServerSettings } from "./settings.ts";
import type { UsedServer } from "./used-server.ts";

type Call = Parameters<SourcedTool["run"]>[0];

/** A turn waits this long for servers that are being started. */
const startWaitMs = 5_000;

export const isOffered = ({ name }: Pick<ListedTool, "name">, { tools = {} }: Pick<ServerSettings, "tools">): boolean =>
  !namesTool(tools.deny ?? [], name) && (tools.allow === undefined || namesTool(tools.allow, name));

/**
 * Why an owner is asked before the tool; `false` if none is. The server's own hints can only spare a question that the
 * operator left to them.
 */
export function approvalReason(
  used: Pick<UsedServer, "name" | "settings">,
  tool: ListedTool,
  doubt: Doubt | undefined,
): string | false {
  const { approve } = used.settings;
  if (doubt === "changed") return `The server ${used.name} has changed this tool since it was accepted.`;
  if (doubt === "new") return `The server ${used.name} has added this tool since its tools were accepted.`;
  if (doubt === "unknown")
    return `It could not be looked up whether this tool of the server ${used.name} was accepted.`;
  if (approve === "always") return `Every tool of the server ${used.name} needs approval.`;
  if (approve === "writes")
    return tool.readOnly
      ? false
      : `It may change something: the server ${used.name} does not say that this tool only reads.`;
  return approve !== "never" && namesTool(approve, tool.name) && `${used.settings.path}.approve names this tool.`;
}

function toolOf(used: UsedServer, server: Server, tool: ListedTool, fingerprints: Fingerprints): SourcedTool {
  return {
    name: modelName(used.name, tool.name),
    description: tool.description,
    parameters: tool.parameters as Json,
    timeoutSeconds: used.settings.timeoutSeconds,
    needsApproval: async () => approvalReason(used, tool, await fingerprints.doubt(server, tool.name)),
    readOnly: tool.readOnly,
    exactNumbers: true,
    run: ({ args, signal, key }: Call) => server.call(tool, args, { signal, key }),
  };
}

const isMissing = ({ server }: UsedServer): boolean =>
  server === undefined || server.state() === "down" || server.tools().length === 0;

/** Whether a turn should wait: for the first start of a server, and for one that is required. */
const isAwaited = ({ settings, server }: UsedServer): boolean =>
  server !== undefined &&
  ((server.state() === "starting" && server.tools().length === 0) || (settings.required && server.state() !== "ready"));

function refusedFor(used: readonly UsedServer[]): ToolOffer["refused"] {
  const missing = used.find(({ settings, server }) => settings.required && server?.state() !== "ready");
  if (missing === undefined) return undefined;
  const fault = missing.server?.fault();
  return {
    reason:
      `The MCP server ${missing.name}, which is required, is not ` +
      `available${fault === undefined ? "" : `: ${fault.message}`}`,
    hint:
      fault?.fix || `Try it with service mcp test ${missing.name}, or set ${missing.settings.path}.required to false.`,
  };
}

/** Sorted by the names of servers and tools: providers can cache a prompt only up to its first change. */
export async function offerOf(used: readonly UsedServer[], fingerprints: Fingerprints): Promise<ToolOffer> {
  const awaited = used.filter(isAwaited);
  if (awaited.length > 0) await Promise.all(awaited.map(({ server }) => server?.available(startWaitMs)));
  const refused = refusedFor(used);
  const tools = used.flatMap((one) => {
    const { server, settings } = one;
    if (server === undefined || server.state() === "down") return [];
    const offered = server.tools().filter((tool) => isOffered(tool, settings));
    return offered.map((tool) => toolOf(one, server, tool, fingerprints));
  });
  const missing = used.filter((one) => isMissing(one) && one.server?.state() !== "ready").map(({ name }) => name);
  const notes = missing.map((name) => `The tools of the server ${name} are not available at the moment.`);
  return { tools, ...(notes.length > 0 && { notes }), refused };
}
