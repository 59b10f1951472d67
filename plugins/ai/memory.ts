/**
 * What each model has shown of itself, such as a tool that its server refuses. Kept in memory: after a restart it is
 * learned again.
 */
import { createHash } from "node:crypto";
import { keyOfModel } from "./cooldowns.ts";
import type { ModelCall } from "./library.ts";
import type { Target } from "./provider.ts";

export type Tool = NonNullable<ModelCall["tools"]>[number];

/** One model at one address, with one key: an edit of its provider makes it another one. */
export interface ModelMemory {
  /** Why the server refuses a tool, by the definition of the tool. */
  readonly refusedTools: Map<string, string>;
  /** Why it is asked without any tool. */
  takesNoTools: string | undefined;
  /** It accepts so many tools, and why that is known. */
  mostTools: { readonly count: number; readonly reason: string } | undefined;
  /** Optional fields of requests that its server does not know. */
  readonly unknownFields: Set<string>;
  /** Its server refuses a call of a tool without the thought before it. */
  needsThoughts: boolean;
  /** Its server refuses the ids that other models have given to calls of tools. */
  needsShortIds: boolean;
  /** Its texts begin with reasoning that has only a closing mark. */
  thinksAloud: boolean;
}

export interface Memories {
  of(target: Target): ModelMemory;
}

/** Names of models can come from requests, and tools from other servers, so both are bounded. */
const mostModels = 500;
const mostTools = 1_000;

export function createMemories(): Memories {
  const memories = new Map<string, ModelMemory>();
  return {
    of(target) {
      const key = keyOfModel(target);
      const known = memories.get(key);
      if (known !== undefined) return known;
      if (memories.size >= mostModels) memories.clear();
      const empty = { takesNoTools: undefined, mostTools: undefined, thinksAloud: false };
      const needs = { needsThoughts: false, needsShortIds: false };
      const fresh: ModelMemory = { ...empty, ...needs, refusedTools: new Map(), unknownFields: new Set() };
      memories.set(key, fresh);
      return fresh;
    },
  };
}

/** With another description or other parameters, it is another tool. */
export function definitionOf(tool: Tool): string {
  return createHash("sha256").update(JSON.stringify(tool)).digest("base64");
}

export function rememberRefused({ refusedTools }: ModelMemory, tools: readonly Tool[], reason: string): void {
  if (refusedTools.size + tools.length > mostTools) refusedTools.clear();
  for (const tool of tools) refusedTools.set(definitionOf(tool), reason);
}
