/** What the operator is shown of the servers: for commands, `service status` and doctor. It contains no secret. */
import { plain } from "./fault.ts";
import type { Doubt, Fingerprints } from "./fingerprints.ts";
import { modelName } from "./names.ts";
import { approvalReason, isOffered } from "./offer.ts";
import { shownPlace } from "./settings.ts";
import type { ServedServer } from "./used-server.ts";

export interface ServerView {
  readonly name: string;
  /** Its place in the configuration. */
  readonly path: string;
  readonly agents: readonly string[];
  /** The command or the address. */
  readonly place: string;
  readonly state: "starting" | "ready" | "waiting" | "down" | "closed" | "misconfigured";
  readonly reason: string;
  readonly fix: string;
  readonly required: boolean;
  /** What the server calls itself, with its version; absent until it has connected. */
  readonly server?: string;
  readonly pid?: number;
  /** Lines on standard output that were no messages. */
  readonly noise: number;
  readonly tools: readonly ToolView[];
  /** Names the tools as they are described here: what `mcp accept` takes. */
  readonly listing: string;
}

export interface ToolView {
  /** As models call it. */
  readonly name: string;
  readonly description: string;
  /** False if the settings of the server leave it out. */
  readonly offered: boolean;
  /** Whether an owner is asked before it runs. */
  readonly asks: boolean;
  /** Its description or its parameters differ from those that were accepted. */
  readonly changed: boolean;
  /** Models that are asked without it, because their servers do not accept it; absent if there are none. */
  readonly refused?: readonly { readonly model: string; readonly reason: string }[];
  /** Why an owner is asked before it until it is accepted; absent if it is. */
  readonly doubt?: Doubt;
  /** All that the model reads of a tool in doubt, so that it can be judged before it is accepted. */
  readonly now?: { readonly description: string; readonly parameters: string };
}

const mostDescription = 160;

export function viewOf(served: ServedServer, fingerprints: Fingerprints): ServerView {
  const { name, settings, agents, server, problem } = served;
  const base = { name, path: settings.path, agents, required: settings.required };
  if (server === undefined)
    return {
      ...base,
      place: "",
      state: "misconfigured",
      reason: problem ?? "",
      fix: "Correct the secret.",
      noise: 0,
      tools: [],
      listing: "",
    };
  const doubts = fingerprints.doubts(server);
  const connection = server.connection();
  const fault = server.fault();
  return {
    ...base,
    place: shownPlace(server.definition),
    state: server.state(),
    reason: fault?.message ?? "",
    fix: fault?.fix ?? "",
    ...(connection !== undefined && { server: `${connection.server.name} ${connection.server.version}` }),
    ...(connection?.pid !== undefined && { pid: connection.pid }),
    noise: server.noise(),
    listing: fingerprints.listing(server),
    tools: server.tools().map((tool) => {
      const doubt = doubts.get(tool.name);
      const now = { description: plain(tool.description), parameters: plain(JSON.stringify(tool.parameters)) };
      return {
        name: modelName(name, tool.name),
        description: now.description.slice(0, mostDescription),
        offered: isOffered(tool, settings),
        asks: approvalReason(served, tool, doubt) !== false,
        changed: doubt === "changed",
        ...(doubt !== undefined && { doubt, now }),
      };
    }),
  };
}
