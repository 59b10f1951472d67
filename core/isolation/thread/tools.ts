/** The tools of a plugin in its worker, and those that its sources offer. */
import type { Json, SourcedTool, ToolCall, ToolDefinition, ToolSource, ToolTurn } from "../../sdk/contract.ts";
import type { Handlers } from "../peer.ts";

/** A call without its signal, which crosses beside the arguments. */
type CallData = Omit<ToolCall, "signal">;
export type OfferedData = Omit<SourcedTool, "run" | "needsApproval"> & { readonly needsApproval?: boolean | "asked" };

export function toolHandlers(own: {
  readonly tools: readonly ToolDefinition[];
  readonly toolSources: readonly ToolSource[];
}): Handlers {
  /** What a source last offered to an agent, by name. */
  const offered = new Map<string, Map<string, SourcedTool>>();
  const at = (index: number): ToolDefinition => needed(own.tools[index]);
  const sourced = (index: number, agentId: string, name: string): SourcedTool =>
    needed(offered.get(`${index} ${agentId}`)?.get(name));
  const approval = (tool: Pick<SourcedTool, "needsApproval">, args: Json) =>
    typeof tool.needsApproval === "function" ? tool.needsApproval(args) : tool.needsApproval;
  return {
    "tool.run": ([index, call]: readonly [number, CallData], signal) => at(index).run({ ...call, signal } as never),
    "tool.approval": ([index, args]: readonly [number, Json]) => approval(at(index) as unknown as SourcedTool, args),
    async "source.offer"([index, turn]: readonly [number, ToolTurn]) {
      const { tools, ...rest } = await needed(own.toolSources[index]).offer(turn);
      offered.set(`${index} ${turn.agentId}`, new Map(tools.map((tool) => [tool.name, tool])));
      const data = tools.map(({ run: _, needsApproval, ...tool }): OfferedData => {
        if (needsApproval === undefined) return tool;
        return { ...tool, needsApproval: typeof needsApproval === "function" ? "asked" : needsApproval };
      });
      return { ...rest, tools: data };
    },
    "source.refused": ([index, refusal]: readonly [number, Parameters<NonNullable<ToolSource["refused"]>>[0]]) =>
      own.toolSources[index]?.refused?.(refusal),
    "source.run": ([index, name, call]: readonly [number, string, CallData], signal) =>
      sourced(index, call.turn.agentId, name).run({ ...call, signal: signal as AbortSignal }),
    "source.approval": ([index, agentId, name, args]: readonly [number, string, string, Json]) =>
      approval(sourced(index, agentId, name), args),
  };
}

function needed<T>(tool: T | undefined): T {
  if (tool === undefined) throw new Error("the plugin no longer offers this tool");
  return tool;
}
