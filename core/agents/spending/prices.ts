/** What a call costs: by the configuration, else by the list of known prices, else unknown, which is never zero. */
import { type AgentsView, type ModelPrices, providerOf, providerSettings } from "../../config/index.ts";
import type { TokenCounts } from "../../state/index.ts";
import type { PricedProvider } from "./price-list.ts";

type PriceList = typeof import("./price-list.ts");

export interface Price {
  /** US dollars; `null` if it is unknown. */
  readonly usd: number | null;
  /** `config`, or the name of the list; `null` if it is unknown. */
  readonly source: string | null;
}

const unknown: Price = { usd: null, source: null };

function configured(config: AgentsView, model: string): ModelPrices | undefined {
  const { prices = {} } = config.models ?? {};
  const provider = `${providerOf(model)}/*`;
  if (Object.hasOwn(prices, model)) return prices[model];
  return Object.hasOwn(prices, provider) ? prices[provider] : undefined;
}

function priced(
  tokens: TokenCounts,
  { input = 0, output = 0, cacheRead = input, cacheWrite = input, minute = 0 }: ModelPrices,
  seconds: number,
): Price {
  const plain = Math.max(0, tokens.inputTokens - tokens.cacheRead - tokens.cacheWrite);
  const sum =
    plain * input + tokens.cacheRead * cacheRead + tokens.cacheWrite * cacheWrite + tokens.outputTokens * output;
  return { usd: sum / 1_000_000 + (seconds / 60) * minute, source: "config" };
}

/** A price for tokens says nothing about a call that is paid by the minute. */
const coversSound = ({ minute, input, output }: ModelPrices): boolean =>
  minute !== undefined || (input === 0 && output === 0);

const modelOf = (model: string): string => model.slice(model.indexOf("/") + 1);

/** Who is paid: a provider that is known by name at its own address, or the server at another one. */
function pricedProvider(config: AgentsView, id: string): PricedProvider | undefined {
  const settings = providerSettings(config, id);
  if (settings === undefined) return undefined;
  const { api, baseUrl, keyVariable } = settings;
  return { api: keyVariable === undefined ? api : id, baseUrl };
}

export interface Prices {
  /** Makes the list available. A failed load is repeated by the next call. */
  load(): Promise<void>;
  /** Without the list, until it is loaded. `seconds`: the length of the sound of a call that has one. */
  of(model: string, tokens: TokenCounts, seconds?: number): Price;
  /** Tokens of the model's context that the list knows. */
  contextOf(model: string): number | undefined;
}

export function createPrices(config: () => AgentsView): Prices {
  let list: PriceList | undefined;
  let loading: Promise<void> | undefined;
  return {
    load() {
      loading ??= import("./price-list.ts").then(
        (loaded) => {
          list = loaded;
        },
        (error: unknown) => {
          loading = undefined;
          throw error;
        },
      );
      return loading;
    },
    contextOf(model) {
      const provider = pricedProvider(config(), providerOf(model));
      return provider && list?.listedContext(modelOf(model), provider);
    },
    of(model, tokens, seconds) {
      const settings = config();
      const own = configured(settings, model);
      if (seconds !== undefined && tokens.inputTokens + tokens.outputTokens === 0)
        return own !== undefined && coversSound(own) ? priced(tokens, own, seconds) : unknown;
      if (own !== undefined) return priced(tokens, own, seconds ?? 0);
      const provider = pricedProvider(settings, providerOf(model));
      const usd = provider && list?.listedPrice(modelOf(model), provider, tokens);
      return usd === undefined || list === undefined ? unknown : { usd, source: list.priceListName };
    },
  };
}
