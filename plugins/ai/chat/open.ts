/** Opens a model through chat completions, which every server offers, the vendors beside their own protocols. */
import type { EngineProvider, Thinking } from "service-gateway/sdk";
import type { Address } from "../address.ts";
import { fetchStream } from "../answer/unstreamed.ts";
import type { Library, Model } from "../library.ts";
import { withCacheMarks } from "./cache-marks.ts";
import { withImages } from "./images.ts";
import { withoutFields, withThoughts } from "./request-fields.ts";
import { formatsNamed, soundsSent } from "./sounds.ts";

/** Where Google offers chat completions, below its address. Features of its own protocol are not available there. */
const googleChat = "/openai";

/** Reasoning budget in tokens, for the vendor that expects a number instead of a level. */
const thinkingTokens: Readonly<Record<Thinking, number>> = {
  off: 0,
  minimal: 1_024,
  low: 4_096,
  medium: 8_192,
  high: 16_384,
  max: 32_768,
};
/** Tokens added for the answer, because that vendor counts reasoning and answer against one limit. */
const answerTokens = 8_192;

/** The provider's request field for reasoning. Empty for `off`, because models without reasoning reject the field. */
function thinkingFields(thinking: Thinking, api: EngineProvider["api"]): { readonly [field: string]: unknown } {
  if (thinking === "off") return {};
  if (api === "anthropic") {
    const budget = thinkingTokens[thinking];
    return { max_tokens: budget + answerTokens, thinking: { type: "enabled", budget_tokens: budget } };
  }
  return { reasoning_effort: thinking === "max" ? "high" : thinking };
}

export function openChat(
  library: Library,
  {
    providerId,
    modelId,
    provider: { api, baseUrl },
    address,
  }: {
    readonly providerId: string;
    readonly modelId: string;
    readonly provider: EngineProvider;
    readonly address: Address;
  },
  {
    thinking,
    marks,
    without,
    needsThoughts,
  }: {
    readonly thinking: Thinking;
    readonly marks: boolean;
    readonly without: ReadonlySet<string>;
    readonly needsThoughts: boolean;
  },
): Model {
  const { baseURL } = address;
  const fields = thinkingFields(thinking, api);
  const isMarked = marks && !without.has("cache_control");
  const model = library
    .createOpenAICompatible({
      name: providerId,
      ...address,
      baseURL: api === "google" && baseUrl === undefined ? `${baseURL}${googleChat}` : baseURL,
      fetch: fetchStream,
      includeUsage: true,
      transformRequestBody: (body) => {
        const asked = formatsNamed({ ...(isMarked ? withCacheMarks(body) : body), ...fields });
        return withoutFields(needsThoughts ? withThoughts(asked) : asked, without);
      },
    })
    .chatModel(modelId);
  return soundsSent(library, withImages(library, model));
}
