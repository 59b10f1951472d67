/** Gathers the tools of a turn: actions in chats, skills, and what plugins offer. */
import type { PlaceSettings } from "../../access/index.ts";
import type { AgentSettings } from "../../config/index.ts";
import type { Inbound, Route } from "../../contract/index.ts";
import type { EngineTool, ToolTurn } from "../../sdk/contract.ts";
import type { Visit } from "../../stations/index.ts";
import { asksAnyway, type OwnedTool } from "./called-tool.ts";
import { type OfferedTools, type OwnTool, ownTool } from "./offered-tools.ts";
import { type Skill, type Skills, skillTools } from "./skills.ts";

export interface TurnToolsOptions {
  /** The actions that the current chat allows. */
  readonly tools?: (inbound: Inbound, route: Route, visit: Visit) => readonly OwnTool[];
  /** What plugins offer, and what the agent has of all tools. */
  readonly offered: OfferedTools;
  readonly skills?: Skills;
}

/** The tools of one turn. */
/** A tool as people read of it. */
export interface ListedTool extends Pick<OwnedTool, "plugin" | "name" | "description"> {
  /** An owner is asked before each call. */
  readonly asks: boolean;
}

export interface TurnTools {
  readonly skills: readonly Skill[];
  /** Sentences of the sources of tools, for the instructions and for people. */
  readonly notes: readonly string[];
  /** The same for the instructions only. */
  readonly context: readonly string[];
  /** As the engine calls them. */
  tools(): readonly EngineTool[];
  /** As people read them. */
  list(): Promise<readonly ListedTool[]>;
}

export interface ToolsAt {
  readonly agent: AgentSettings;
  readonly inbound: Inbound;
  readonly route: Route;
  readonly visit: Visit;
  readonly place: Pick<PlaceSettings, "skills"> | undefined;
}

export async function gatherTools(
  options: TurnToolsOptions,
  { agent, inbound, route, visit, place }: ToolsAt,
): Promise<TurnTools> {
  const { offered } = options;
  const turn: ToolTurn = { agentId: agent.id, sessionKey: route.sessionKey, inbound, to: route.to };
  const [skills = [], plugins] = await Promise.all([options.skills?.of(agent, place?.skills), offered.ofPlugins(turn)]);
  const all = () => [
    ...[...(options.tools?.(inbound, route, visit) ?? []), ...skillTools(skills)].map(ownTool),
    ...plugins.tools,
  ];
  return {
    skills,
    notes: plugins.notes,
    context: plugins.context,
    tools: () => offered.of(all(), { turn, visit }),
    list: () =>
      Promise.all(
        offered
          .had(all(), turn.agentId)
          .map(async (tool) => ({ ...tool, asks: await asksAnyway(tool, agent.tools ?? {}) })),
      ),
  };
}
