/** Which models the configuration names, for whom, and what is known about each of them. */
import { createModelRooms, type ModelRooms } from "../agents/context/model-rooms.ts";
import { createPrices, type Prices } from "../agents/spending/prices.ts";
import { knownModels } from "../agents/turn/providers.ts";
import { agentIds, agentSettings } from "../config/agents.ts";
import { aliasOf, isFullModelName, type ModelTable, modelNames, resolveModel } from "../config/model-names.ts";
import { type ProviderSettings, providerKey, providerOf, providerSettings } from "../config/model-providers.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { Secrets } from "../config/secrets.ts";
import { asSentence, HostError, reasonOf } from "../contract/errors.ts";
import type { Store } from "../state/store.ts";

export interface ModelUse {
  readonly agent: string;
  /** `allowed`: conversations may choose it with /model. */
  readonly as: "primary" | "fallback" | "allowed";
  readonly alias?: string;
}

export interface ModelView {
  /** `provider/model`. */
  readonly model: string;
  readonly uses: readonly ModelUse[];
  readonly provider: string;
  /** Without credentials and query; absent if there is none. */
  readonly address?: string;
  readonly key: "set" | "missing" | "not needed";
  /** Tokens of its context; `null` if its provider is unknown. */
  readonly contextTokens: number | null;
  /** `learned`: a refusal of its server has shown it. `catalogue`: the list of known models has it. */
  readonly contextSource?: ContextSource;
  /** When it was learned, epoch milliseconds. */
  readonly contextLearnedAt?: number;
  /** US dollars for a million tokens; `null` if unknown. */
  readonly price: { readonly input: number; readonly output: number; readonly source: string } | null;
  /** Why it cannot be asked, as far as the configuration shows. */
  readonly problem?: string;
}

export type ContextSource = "stated" | "learned" | "catalogue" | "assumed";

/** What of a model's provider is needed to look for its server. */
export interface Place {
  readonly view: ModelView;
  readonly settings: ProviderSettings | undefined;
}

function usesIn(config: GatewayConfig): ReadonlyMap<string, readonly ModelUse[]> {
  const found = new Map<string, ModelUse[]>();
  const add = (name: string, use: ModelUse, table: ModelTable | undefined) => {
    const model = resolveModel(name, table) ?? resolveModel(name, undefined) ?? name;
    const uses = found.get(model) ?? [];
    if (uses.some(({ agent }) => agent === use.agent)) return;
    const alias = aliasOf(model, table);
    found.set(model, [...uses, { ...use, ...(alias !== undefined && { alias }) }]);
  };
  for (const agent of agentIds(config)) {
    const { model, models } = agentSettings(config, agent);
    const { primary, fallbacks = [] } = typeof model === "string" ? { primary: model } : (model ?? {});
    if (primary !== undefined) add(primary, { agent, as: "primary" }, models);
    for (const name of fallbacks) add(name, { agent, as: "fallback" }, models);
    for (const name of modelNames(models)) add(name, { agent, as: "allowed" }, models);
  }
  return found;
}

const million = 1_000_000;
/** Some models have higher prices for long requests. */
const usualTokens = 1_000;
const noTokens = { inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

function priceOf(prices: Prices, model: string): ModelView["price"] {
  const per = (tokens: object) => prices.of(model, { ...noTokens, ...tokens });
  const input = per({ inputTokens: usualTokens });
  const output = per({ outputTokens: usualTokens });
  if (input.usd === null || output.usd === null || input.source === null) return null;
  const rounded = (usd: number) => Math.round(((usd * million) / usualTokens) * 10_000) / 10_000;
  return { input: rounded(input.usd), output: rounded(output.usd), source: input.source };
}

type Room = Awaited<ReturnType<ModelRooms["of"]>>[string];

const sources: Readonly<Record<Room["source"], ContextSource>> = {
  config: "stated",
  refusal: "learned",
  list: "catalogue",
  default: "assumed",
};

/** As turns find it. They look into the catalogue only once a conversation is long. */
async function contextOf(
  model: string,
  { api, address, models = {} }: ProviderSettings,
  { rooms, prices }: { readonly rooms: ModelRooms; readonly prices: Prices },
): Promise<Pick<ModelView, "contextTokens" | "contextSource" | "contextLearnedAt">> {
  const providers = { [providerOf(model)]: { api, baseUrl: address, models: knownModels(models) } };
  const { [model]: room } = await rooms.of([model], providers);
  const at = await rooms.learnedAt(model, providers);
  const listed = room?.source === "default" ? prices.contextOf(model) : undefined;
  if (room === undefined || listed !== undefined) return { contextTokens: listed ?? null, contextSource: sources.list };
  return {
    contextTokens: room.tokens,
    contextSource: sources[room.source],
    ...(at !== undefined && { contextLearnedAt: at }),
  };
}

function keyOf(id: string, settings: ProviderSettings, secrets: Secrets): Pick<ModelView, "key" | "problem"> {
  try {
    return { key: providerKey(id, settings, secrets) === undefined ? "not needed" : "set" };
  } catch (thrown) {
    const hint = thrown instanceof HostError && thrown.code !== "model_key_missing" ? ` ${thrown.hint}` : "";
    return { key: "missing", problem: `${asSentence(reasonOf(thrown))}${hint}` };
  }
}

/** The address as it may be shown, and requested: without user, password and query. */
function plainAddress(address: string): string | undefined {
  const url = URL.parse(address);
  return url === null ? undefined : `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** `store`: where turns remember what servers have shown; nothing is written. */
export async function gatherModels(
  config: GatewayConfig,
  {
    secrets,
    store,
    now,
  }: { readonly secrets: Secrets; readonly store: Pick<Store, "get">; readonly now: () => number },
): Promise<readonly Place[]> {
  const uses = usesIn(config);
  const prices = createPrices(() => config);
  if (uses.size > 0) await prices.load();
  const rooms = createModelRooms({ store: { ...store, update: async () => null }, log: { info() {}, warn() {} }, now });
  const place = async ([model, of]: readonly [string, readonly ModelUse[]]): Promise<Place> => {
    const provider = providerOf(model);
    const settings = isFullModelName(model) ? providerSettings(config, provider) : undefined;
    const address = settings?.address === undefined ? undefined : plainAddress(settings.address);
    const known = {
      ...{ model, uses: of, provider, ...(address !== undefined && { address }) },
      ...(settings === undefined ? { contextTokens: null } : await contextOf(model, settings, { rooms, prices })),
      price: priceOf(prices, model),
    };
    if (settings === undefined) {
      const problem = isFullModelName(model)
        ? `models.providers has no ${provider}, and no provider is known by this name.`
        : "It is neither an alias nor of the form provider/model.";
      return { settings, view: { ...known, key: "missing", problem } };
    }
    const key = keyOf(provider, settings, secrets);
    const lost = address === undefined ? { problem: `models.providers.${provider} has no usable baseUrl.` } : {};
    return { settings, view: { ...known, ...key, ...lost } };
  };
  return await Promise.all([...uses].map(place));
}
