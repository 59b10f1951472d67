/** Models and the servers that answer for them: names that lead nowhere, secrets that cannot be read. */
import { HostError } from "../errors.ts";
import { renderPath, type Segment } from "./path.ts";
import type { Draft } from "./schema.ts";
import type { Secrets } from "./secrets.ts";
import { suggestKey } from "./suggest.ts";
import type { PlacedProblem } from "./validate.ts";

type AgentDraft = Draft["agents"]["defaults"];

interface ModelContext {
  readonly secrets: Secrets;
  /** Index in the file of an element of a list that may have lost others. */
  readonly indexOf: (list: readonly unknown[], index: number) => number;
}

/** Warnings: an engine of a plugin may know providers of its own, and the gateway's environment may be another one. */
export function checkModels(draft: Draft, { secrets, indexOf }: ModelContext): readonly PlacedProblem[] {
  const { defaults, list } = draft.agents;
  const agents = [
    { agent: defaults, at: ["agents", "defaults"] },
    ...list.map((agent, index) => ({ agent, at: ["agents", "list", indexOf(list, index)] })),
  ];
  const named = agents.flatMap(({ agent, at }) =>
    namesOf(agent, at).flatMap((name) => unknownModel(name, { draft, table: agent.models ?? defaults.models })),
  );
  return [...named, ...unreadable(draft, secrets)];
}

interface ModelName {
  readonly name: string;
  readonly at: readonly Segment[];
}

function namesOf({ model }: Pick<AgentDraft, "model">, at: readonly Segment[]): readonly ModelName[] {
  if (model === undefined) return [];
  if (typeof model === "string") return [{ name: model, at: [...at, "model"] }];
  const { primary, fallbacks = [] } = model;
  return [
    ...(primary === undefined ? [] : [{ name: primary, at: [...at, "model", "primary"] }]),
    ...fallbacks.map((name, index) => ({ name, at: [...at, "model", "fallbacks", index] })),
  ];
}

function unknownModel(
  { name, at }: ModelName,
  { draft, table }: { readonly draft: Draft; readonly table: AgentDraft["models"] },
): readonly PlacedProblem[] {
  const { providers } = draft.models;
  const [, provider] = /^([^/\s]+)\/\S+$/.exec(ofAlias(name, table)) ?? [];
  if (provider !== undefined && Object.hasOwn(providers, provider)) return [];
  if (provider === undefined) {
    return [warning(at, `is ${JSON.stringify(name)}, which is no alias and not of the form provider/model`, "Write it as provider/model.")];
  }
  const known = Object.keys(providers);
  const hint = suggestKey(provider, known) ?? `Add models.providers.${provider} with its api, baseUrl and apiKey.`;
  return [warning(at, `is ${JSON.stringify(name)}, and models.providers has no ${JSON.stringify(provider)}`, hint)];
}

function ofAlias(name: string, table: AgentDraft["models"]): string {
  if (table === undefined || Array.isArray(table)) return name;
  const wanted = name.trim().toLowerCase();
  return Object.entries(table).find(([, { alias }]) => alias?.toLowerCase() === wanted)?.[0] ?? name;
}

/** A provider whose secret cannot be read is left out of every turn. */
function unreadable(draft: Draft, secrets: Secrets): readonly PlacedProblem[] {
  return Object.entries(draft.models.providers).flatMap(([id, { apiKey, headers = {} }]) => {
    const at = ["models", "providers", id];
    const values = [
      ...(apiKey === undefined ? [] : [{ at: [...at, "apiKey"], value: apiKey }]),
      ...Object.entries(headers).map(([name, value]) => ({ at: [...at, "headers", name], value })),
    ];
    return values.flatMap(({ at: place, value }) => unresolved(place, value, secrets));
  });
}

function unresolved(at: readonly Segment[], value: unknown, secrets: Secrets): readonly PlacedProblem[] {
  const path = renderPath(at);
  try {
    secrets.resolve(value, path);
    return [];
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    return [warning(at, thrown.message.replace(`${path}: `, "").replace(/\.$/, ""), thrown.hint)];
  }
}

function warning(at: readonly Segment[], message: string, hint: string): PlacedProblem {
  return { severity: "warning", at, path: renderPath(at), message, hint };
}
