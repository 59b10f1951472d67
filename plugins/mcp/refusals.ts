/** Which tools the servers of models do not accept, as the gateway reports it, for the lists of commands. */
import type { ToolSource } from "./contract.ts";
import type { ServerView } from "./view.ts";

export type Refusal = Parameters<NonNullable<ToolSource["refused"]>>[0];

export interface Refusals {
  note(refusal: Refusal): void;
  /** The views with what is refused of their tools. */
  shown(views: readonly ServerView[]): readonly ServerView[];
}

/** Names of models can come from requests, so their number is bounded. */
const mostModels = 20;

export function createRefusals(): Refusals {
  const byTool = new Map<string, Map<string, string>>();
  return {
    note({ name, model, reason }) {
      const models = byTool.get(name) ?? new Map<string, string>();
      models.delete(model);
      if (reason !== null && models.size < mostModels) models.set(model, reason);
      if (models.size === 0) byTool.delete(name);
      else byTool.set(name, models);
    },
    shown: (views) =>
      views.map((view) => ({
        ...view,
        tools: view.tools.map((tool) => {
          const models = byTool.get(tool.name);
          return models === undefined
            ? tool
            : { ...tool, refused: [...models].map(([model, reason]) => ({ model, reason })) };
        }),
      })),
  };
}
