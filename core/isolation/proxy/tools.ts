/** The tools of a plugin in a worker, as the core calls them: each function asks the worker. */
import type { PluginHost, ToolCall, ToolOffer, ToolResult } from "../../sdk/contract.ts";
import type { Registered } from "../declaration.ts";
import type { Supervisor } from "../supervisor.ts";
import type { OfferedData } from "../thread/tools.ts";

export function registerTools(host: PluginHost, { tools, toolSources }: Registered, { askWhenUp }: Supervisor): void {
  const run = (name: string, place: readonly unknown[], { signal, ...call }: ToolCall) =>
    askWhenUp<ToolResult>(name, [...place, call], { signal });
  const approval = (given: boolean | "asked" | undefined, name: string, place: readonly unknown[]) =>
    given === "asked" ? (args: unknown) => askWhenUp<boolean | string>(name, [...place, args]) : given;

  tools.forEach(({ needsApproval, ...tool }, index) => {
    const asked = approval(needsApproval, "tool.approval", [index]);
    host.tool({
      ...tool,
      ...(asked !== undefined && { needsApproval: asked }),
      run: (call) => run("tool.run", [index], call as ToolCall),
    });
  });
  toolSources.forEach((id, index) => {
    host.toolSource({
      id,
      // Not awaited: a thread that has ended knows nothing of its tools either.
      refused: (refusal) => void askWhenUp("source.refused", [index, refusal]).catch(() => {}),
      async offer(turn) {
        type Answer = Omit<ToolOffer, "tools"> & { readonly tools: readonly OfferedData[] };
        const { tools: offered, ...rest } = await askWhenUp<Answer>("source.offer", [index, turn]);
        const called = offered.map(({ needsApproval, ...tool }) => {
          const asked = approval(needsApproval, "source.approval", [index, turn.agentId, tool.name]);
          return {
            ...tool,
            // Raw JSON does not cross to a worker.
            exactNumbers: false,
            ...(asked !== undefined && { needsApproval: asked }),
            run: (call: ToolCall) => run("source.run", [index, tool.name], call),
          };
        });
        return { ...rest, tools: called };
      },
    });
  });
}
