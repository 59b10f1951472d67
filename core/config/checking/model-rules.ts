/** Checks models and their providers for unknown names and unreadable secrets. */
import { HostError } from "../../contract/index.ts";
import { knownProviderIds } from "../known-providers.ts";
import { aliasOf, defaultWord, isFullModelName, type ModelChoice, modelNames, resolveModel } from "../model-names.ts";
import { type ProviderSettings, providerKey, providerOf, providerSettings } from "../model-providers.ts";
import { renderPath, type Segment } from "../path.ts";
import type { Problem } from "../problem.ts";
import type { Draft, GatewayConfig } from "../schema.ts";
import type { Secrets } from "../secrets.ts";
import { checkSpeech, speechEntries } from "./speech-rules.ts";
import { suggestKey } from "./suggest.ts";
import { isTimeZone } from "./time-zone.ts";
import type { PlacedProblem } from "./validate.ts";

type AgentDraft = Draft["agents"]["defaults"];

interface ModelContext {
  readonly secrets: Secrets;
  /** The index in the file of a list element, because invalid elements may have been dropped. */
  readonly indexOf: (list: readonly unknown[], index: number) => number;
  /** Whether the file has a value there, even if it is invalid and was dropped. */
  readonly isWritten: (at: readonly Segment[]) => boolean;
}

/** Reports warnings only: an engine may know providers of its own, and the gateway may run in another environment. */
export function checkModels(draft: Draft, { secrets, indexOf, isWritten }: ModelContext): readonly PlacedProblem[] {
  const { defaults, list } = draft.agents;
  const agents = [
    { agent: defaults, at: ["agents", "defaults"] },
    ...list.map((agent, index) => ({ agent, at: ["agents", "list", indexOf(list, index)] })),
  ];
  const named = agents.flatMap(({ agent, at }) =>
    namesOf(agent, at).flatMap((name) =>
      unknownModel(name, { draft, table: agent.models ?? defaults.models, secrets, isWritten }),
    ),
  );
  const budgets = [
    { budget: draft.budget, at: ["budget"] },
    ...agents.map(({ agent, at }) => ({ budget: agent.budget, at: [...at, "budget"] })),
  ];
  const speech = checkSpeech(draft, indexOf);
  const ofSpeech = speechEntries(draft.models.speech ?? {}, indexOf).flatMap(({ entry: { model }, at }) =>
    model === undefined
      ? []
      : unknownModel({ name: model, at: [...at, "model"] }, { draft, table: undefined, secrets, isWritten }),
  );
  return [
    ...named,
    ...speech,
    ...ofSpeech,
    ...agents.flatMap(({ agent, at }) => [...unusableEntries(agent, at), ...unusableAliases(agent, at)]),
    ...budgets.flatMap(({ budget, at }) => unknownZone(budget, at)),
    ...priceNames(draft),
    ...incompletePrices(draft),
    ...unreadable(draft, secrets),
  ];
}

/** Entries in a list of allowed models that match no model. */
function unusableEntries({ models }: Pick<AgentDraft, "models">, at: readonly Segment[]): readonly PlacedProblem[] {
  return modelNames(models)
    .filter((name) => !isFullModelName(name))
    .map((name) => {
      const hint =
        'Write it as provider/model; an alias is a field of the map, { "provider/model": { "alias": "fast" } }.';
      return warning(
        [...at, "models"],
        `lists ${JSON.stringify(name)}, which is not of the form provider/model and allows nothing`,
        hint,
      );
    });
}

/** Aliases that mean something else, such as another model. */
function unusableAliases({ models }: Pick<AgentDraft, "models">, at: readonly Segment[]): readonly PlacedProblem[] {
  return modelNames(models).flatMap((name): readonly PlacedProblem[] => {
    const alias = aliasOf(name, models);
    if (alias === undefined || !isFullModelName(name)) return [];
    const meant = alias.toLowerCase() === defaultWord ? "the model of the agent" : resolveModel(alias, models);
    if (meant === name) return [];
    const message = `is ${JSON.stringify(alias)}, which means ${meant}`;
    return [warning([...at, "models", name, "alias"], message, "Choose another alias.")];
  });
}

/** Agents' models that their own lists do not allow. The file may set such a model, but a chat may not. */
export function modelsOutsideList({ agents: { defaults, list } }: Pick<GatewayConfig, "agents">): readonly Problem[] {
  const agents = [
    { agent: defaults, at: ["agents", "defaults"] },
    ...list.map((agent, index) => ({ agent, at: ["agents", "list", index] })),
  ];
  return agents.flatMap(({ agent, at }) =>
    namesOf(agent, at).flatMap((named): readonly Problem[] => {
      if (resolveModel(named.name, agent.models ?? defaults.models) !== undefined) return [];
      const message = `is ${JSON.stringify(named.name)}, which is not an allowed model`;
      return [
        {
          severity: "error",
          path: renderPath(named.at),
          message,
          hint: "Choose a model that /model lists, by its alias or as provider/model.",
        },
      ];
    }),
  );
}

/** A zone that this machine does not know. Days then begin as on the host. */
function unknownZone(
  budget: { timezone?: string | undefined } | undefined,
  at: readonly Segment[],
): readonly PlacedProblem[] {
  if (budget?.timezone === undefined || isTimeZone(budget.timezone)) return [];
  const { timezone } = budget;
  delete budget.timezone;
  const message = `is ${JSON.stringify(timezone)}, which is not a known time zone; days begin as on this host`;
  return [warning([...at, "timezone"], message, "Use a name such as Europe/Berlin, or UTC.")];
}

/** A model whose replies have no price would seem to cost less than it does. */
function incompletePrices({ models: { prices } }: Draft): readonly PlacedProblem[] {
  return Object.entries(prices).flatMap(([name, { input, output, minute }]): readonly PlacedProblem[] => {
    const missing = Object.entries({ input, output }).flatMap(([key, value]) => (value === undefined ? [key] : []));
    if (missing.length === 0 || (missing.length === 2 && minute !== undefined)) return [];
    delete prices[name];
    const at = ["models", "prices", name];
    const hint = "Set input and output, or minute alone for a model of models.speech.";
    return [{ ...warning(at, `does not set ${missing.join(" and ")}`, hint), severity: "error" }];
  });
}

/** Prices under a name that no model has. */
function priceNames({ models: { prices } }: Draft): readonly PlacedProblem[] {
  return Object.keys(prices)
    .filter((name) => !isFullModelName(name))
    .map((name) =>
      warning(
        ["models", "prices", name],
        "is not of the form provider/model and applies to no model",
        "Write it as provider/model, or provider/*.",
      ),
    );
}

interface ModelName {
  readonly name: string;
  readonly at: readonly Segment[];
}

function namesOf(
  { model }: { readonly model?: ModelChoice | undefined },
  at: readonly Segment[],
): readonly ModelName[] {
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
  {
    draft,
    table,
    secrets,
    isWritten,
  }: { readonly draft: Draft; readonly table: AgentDraft["models"] } & Pick<ModelContext, "secrets" | "isWritten">,
): readonly PlacedProblem[] {
  // The operator may choose a model that is not in the table.
  const model = resolveModel(name, table) ?? resolveModel(name, undefined);
  if (model === undefined) {
    return [
      warning(
        at,
        `is ${JSON.stringify(name)}, which is neither an alias nor of the form provider/model`,
        "Write it as provider/model.",
      ),
    ];
  }
  const { providers } = draft.models;
  const provider = providerOf(model);
  // A provider of the file is checked with its own settings, even if one of them is invalid and it was dropped.
  if (isWritten(["models", "providers", provider])) return [];
  const settings = providerSettings(draft, provider);
  if (settings !== undefined)
    return unkeyed(provider, settings, { at, secrets, says: `is ${JSON.stringify(name)}, which ` });
  const hint =
    suggestKey(provider, [...Object.keys(providers), ...knownProviderIds]) ??
    `Add models.providers.${provider} with its api, baseUrl and apiKey.`;
  return [warning(at, `is ${JSON.stringify(name)}, and models.providers has no ${JSON.stringify(provider)}`, hint)];
}

/** The missing key of a provider that is known by name. */
function unkeyed(
  provider: string,
  { keyVariable, needsKey }: ProviderSettings,
  { at, secrets, says = "" }: { readonly at: readonly Segment[]; readonly secrets: Secrets; readonly says?: string },
): readonly PlacedProblem[] {
  try {
    providerKey(provider, { keyVariable, needsKey }, secrets);
    return [];
  } catch {
    const places = `${keyVariable} or models.providers.${provider}`;
    const message = `${says}needs a key for ${provider}, and there is none in ${places}`;
    return [warning(at, message, `Set ${keyVariable} in the environment, or models.providers.${provider}.apiKey.`)];
  }
}

/** Providers with an unreadable secret, which are left out of every turn, and those that cannot be reached. */
function unreadable(draft: Draft, secrets: Secrets): readonly PlacedProblem[] {
  return Object.entries(draft.models.providers).flatMap(([id, { apiKey, headers = {} }]) => {
    const at = ["models", "providers", id];
    const values = [
      ...(apiKey === undefined ? [] : [{ at: [...at, "apiKey"], value: apiKey }]),
      ...Object.entries(headers).map(([name, value]) => ({ at: [...at, "headers", name], value })),
    ];
    const settings = providerSettings(draft, id);
    return [
      ...values.flatMap(({ at: place, value }) => unresolved(place, value, secrets)),
      ...(settings === undefined || apiKey !== undefined ? [] : unkeyed(id, settings, { at, secrets })),
      ...(settings?.address === undefined ? [unreachable(id, at)] : []),
    ];
  });
}

function unreachable(id: string, at: readonly Segment[]): PlacedProblem {
  const hint =
    suggestKey(id, knownProviderIds) ??
    "Set its baseUrl, such as http://127.0.0.1:8000/v1, and its api if it does not speak chat completions.";
  return warning(at, "has no baseUrl, and no provider is known by this name", hint);
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
