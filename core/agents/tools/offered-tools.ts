/**
 * The tools of one turn: the gateway's own, those of plugins and those of their sources, as far as the agent has them.
 */
import { type AgentsView, agentSettings } from "../../config/index.ts";
import { EngineError, type Json, reasonOf, type TurnRecord } from "../../contract/index.ts";
import { callPlugin, isObject, kindOf, pluginDeadlines, type Registry, registeredProblem } from "../../host/index.ts";
import type { EngineTool, PluginLog, SourcedTool, ToolOffer, ToolSource, ToolTurn } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";
import { isFirstRun, isThenable, type Visit } from "../../stations/index.ts";
import { cleanExternal } from "../../untrusted/index.ts";
import type { CallRecord } from "./call-records.ts";
import { type CallsOf, calledTool, type OrderedCall, type OwnedTool } from "./called-tool.ts";
import { createDescriptions } from "./described-tool.ts";
import { createRefusedTools, type RefusedTools } from "./refused-tools.ts";
import { isAllowed } from "./tool-names.ts";
import { createTurnCalls, type TurnCalls, turnCalls } from "./turn-calls.ts";

/** More tools fill the prompt, and models choose badly among them. */
const mostTools = 128;
const mostSchemaCharacters = 32 * 1_024;

/** What plugins offer for one turn. */
export interface PluginTools {
  readonly tools: readonly OwnedTool[];
  /** Sentences for the instructions, and for people who list the tools. */
  readonly notes: readonly string[];
  /** Sentences for the instructions only. */
  readonly context: readonly string[];
}

export interface OfferedTools {
  /**
   * What plugins offer. Throws `EngineError` (`tool_source_down`) where the turn cannot be done without a source that
   * is away.
   */
  ofPlugins(turn: ToolTurn): Promise<PluginTools>;
  /** The tools that the agent has of all these. Of two with one name the first is taken. */
  had(all: readonly OwnedTool[], agentId: string): readonly OwnedTool[];
  /** Which of them the servers of models do not accept. */
  readonly refused: RefusedTools;
  /** The same, as its engine calls them. */
  of(all: readonly OwnedTool[], calls: Pick<CallsOf, "turn" | "visit">): readonly EngineTool[];
  /** The calls of an event's turn, in all of its runs. */
  callsOf(event: string, visit: Visit): TurnCalls;
  /** Whether the turn of an event has asked an owner who can still answer. */
  asksPerson(event: string): Promise<boolean>;
  /** An event has ended. What is recorded of its calls stays where an operator may run it again because it failed. */
  ended(record: Pick<TurnRecord, "eventId" | "outcome">, visit: Visit): Promise<void> | undefined;
}

/** A tool of the gateway's own. */
export interface OwnTool extends Omit<EngineTool, "run">, Pick<SourcedTool, "readOnly" | "idempotent"> {
  run(args: Json, signal: AbortSignal, call: Pick<OrderedCall, "key" | "order">): Promise<Json>;
}

const none: PluginTools = { tools: [], notes: [], context: [] };

/** The gateway's own tools check their arguments themselves. */
export const ownTool = ({ run, ...tool }: OwnTool): OwnedTool => ({
  ...tool,
  plugin: "core",
  // They have their own limits: a message may wait long for a slow platform.
  timeoutSeconds: 3_600,
  run: ({ args, signal, ...call }) => run(args, signal, call),
});

export function createOfferedTools({
  registry,
  config,
  approvals,
  store,
  log,
  now,
}: {
  readonly registry: Pick<Registry, "tools" | "toolSources">;
  readonly config: () => AgentsView;
  readonly approvals: CallsOf["approvals"];
  readonly store: Pick<Store, "set" | "list" | "delete" | "nodes">;
  readonly log: Pick<PluginLog, "warn" | "debug">;
  readonly now: () => number;
}): OfferedTools {
  const refused = createRefusedTools({ registry, log });
  /** What was said of a tool that is left out: once is enough. */
  const logged = new Set<string>();
  const described = createDescriptions();
  const leaveOut = ({ plugin, name }: Pick<OwnedTool, "plugin" | "name">, reason: string) => {
    const line = `${plugin} ${name} ${reason}`;
    if (logged.has(line)) return;
    if (logged.size >= 1_000) logged.clear();
    logged.add(line);
    log.warn({ plugin, tool: name }, `a tool is left out: ${reason}`);
  };

  async function offerOf(plugin: string, { id, offer }: ToolSource, turn: ToolTurn): Promise<PluginTools> {
    let offered: ToolOffer;
    try {
      const answer = offer(turn);
      // Most sources answer at once, and a time limit for each turn has its price.
      const late = () =>
        callPlugin({ plugin, doing: `offer of ${id}` }, pluginDeadlines.offer, async () => await answer);
      offered = isThenable(answer) ? await late() : answer;
      if (!isObject(offered) || !Array.isArray(offered.tools))
        throw new TypeError(`it returned ${kindOf(offered)} instead of an offer`);
    } catch (thrown) {
      log.warn(
        { plugin, source: id, error: reasonOf(thrown) },
        "a source of tools failed; the turn begins without its tools",
      );
      return none;
    }
    const { tools, notes, context, refused } = offered;
    const sentences = (given: readonly string[] = []) =>
      given.filter((each) => typeof each === "string").map(cleanExternal);
    if (refused !== undefined) {
      const { reason, hint } = refused;
      throw new EngineError("tool_source_down", { detail: reason, hint });
    }
    const usable = tools.filter((tool) => {
      const problem = registeredProblem.tool(tool);
      if (problem === undefined) return true;
      leaveOut({ plugin, name: String((tool as Partial<typeof tool> | null)?.name) }, problem);
      return false;
    });
    return {
      tools: usable.map((tool) => ({ words: "outside", ...tool, ...described(tool), plugin })),
      notes: sentences(notes),
      context: sentences(context),
    };
  }

  function had(all: readonly OwnedTool[], agentId: string): readonly OwnedTool[] {
    const settings = agentSettings(config(), agentId).tools;
    const taken = new Map<string, OwnedTool>();
    for (const tool of all) {
      if (!isAllowed(tool.name, settings)) continue;
      const other = taken.get(tool.name);
      if (other !== undefined) leaveOut(tool, `${other.plugin} has a tool with the same name`);
      else if (JSON.stringify(tool.parameters).length > mostSchemaCharacters)
        leaveOut(tool, "its parameters are described by more than 32 kB");
      else if (taken.size >= mostTools) leaveOut(tool, `the agent ${agentId} has more than ${mostTools} tools`);
      else taken.set(tool.name, tool);
    }
    return [...taken.values()];
  }

  function callsOf(event: string, visit: Visit): TurnCalls {
    const known = visit.get(turnCalls);
    if (known !== undefined) return known;
    // The process may have ended between the beginning of a call and the owner's message.
    const onEarlier = ({ approval }: CallRecord) => void (approval !== undefined && approvals.began(approval));
    const fresh = createTurnCalls({ event, visit, store, now, onEarlier, isAsked: () => approvals.isOpen(event) });
    visit.set(turnCalls, fresh);
    return fresh;
  }

  async function close({ eventId, outcome }: Pick<TurnRecord, "eventId" | "outcome">, made: TurnCalls): Promise<void> {
    if (made.mayHaveAsked()) await approvals.ended(eventId);
    if (outcome === "answered" || outcome === "silent") await made.forget();
  }

  return {
    callsOf,
    asksPerson: approvals.isOpen,
    ended(record, visit) {
      const made = visit.get(turnCalls);
      if (made !== undefined) return close(record, made);
      // Of an event that ends without another turn, because it only had to be sent, an earlier run may have asked.
      return visit.get(isFirstRun) === true ? undefined : approvals.ended(record.eventId);
    },
    async ofPlugins(turn) {
      const own = registry.tools.flatMap(({ plugin, definition }): OwnedTool[] => {
        const { agents, parameters, ...tool } = definition;
        if (agents !== undefined && !agents.includes(turn.agentId)) return [];
        const { words = "own" } = tool;
        return [
          {
            ...tool,
            words,
            plugin,
            schema: parameters,
            parameters: JSON.parse(JSON.stringify(parameters)),
          } as OwnedTool,
        ];
      });
      const sources = await Promise.all(
        registry.toolSources.map(({ plugin, definition }) => offerOf(plugin, definition, turn)),
      );
      return {
        tools: [...own, ...sources.flatMap(({ tools }) => tools)],
        notes: sources.flatMap(({ notes }) => notes),
        context: sources.flatMap(({ context }) => context),
      };
    },
    had,
    refused,
    of(all, calls) {
      const { tools: settings = {} } = agentSettings(config(), calls.turn.agentId);
      const made = callsOf(calls.turn.inbound.id, calls.visit);
      const tools = had(all, calls.turn.agentId);
      refused.offered(tools);
      return tools.map((tool) => calledTool(tool, { ...calls, made, approvals, settings, log, now }));
    },
  };
}
