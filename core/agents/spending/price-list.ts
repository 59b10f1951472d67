/**
 * The prices that the gateway knows without a setting. Imported when they are first needed, because the list takes 20
 * MB of memory.
 */
import { calcPrice } from "@pydantic/genai-prices";
import type { TokenCounts } from "../../state/index.ts";

export const priceListName = "genai-prices";

/** Who serves a model. */
export interface PricedProvider {
  /** The name of the vendor, which is that of a protocol, too. The vendor serves it where no other address is set. */
  readonly api?: string;
  readonly baseUrl?: string;
}

const byName = ({ api = "", baseUrl }: PricedProvider) =>
  baseUrl === undefined ? { providerId: api } : { providerApiUrl: baseUrl };

/** Tokens of a model's context; `undefined` if the list does not have them. */
export function listedContext(modelId: string, provider: PricedProvider): number | undefined {
  try {
    return calcPrice({ input_tokens: 1 }, modelId, byName(provider))?.model.context_window;
  } catch {
    return undefined;
  }
}

/** US dollars of a call; `undefined` if the list does not have the model. */
export function listedPrice(modelId: string, provider: PricedProvider, tokens: TokenCounts): number | undefined {
  const { inputTokens, outputTokens, cacheRead, cacheWrite } = tokens;
  const usage = {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
  };
  try {
    return calcPrice(usage, modelId, byName(provider))?.total_price;
  } catch {
    // Counts that contradict each other, such as more cached tokens than there are.
    return undefined;
  }
}
