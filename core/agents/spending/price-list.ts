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

/** US dollars of a call; `undefined` if the list does not have the model. */
export function listedPrice(
  modelId: string,
  { api = "", baseUrl }: PricedProvider,
  tokens: TokenCounts,
): number | undefined {
  const provider = baseUrl === undefined ? { providerId: api } : { providerApiUrl: baseUrl };
  const { inputTokens, outputTokens, cacheRead, cacheWrite } = tokens;
  const usage = {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
  };
  try {
    return calcPrice(usage, modelId, provider)?.total_price;
  } catch {
    // Counts that contradict each other, such as more cached tokens than there are.
    return undefined;
  }
}
