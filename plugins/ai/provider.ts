/** Creates an AI SDK model from `provider/model` and the provider's settings. */
import { EngineError, type EngineProvider, type EngineTurn, type Thinking } from "service-gateway/sdk";
import { fetchStream } from "./answer/unstreamed.ts";
import { withCacheMarks } from "./cache-marks.ts";
import { withImages } from "./images.ts";
import type { Library, Model } from "./library.ts";
import { withoutFields } from "./request-fields.ts";

/**
 * The vendors' chat-completions endpoints. Anthropic and Google offer one in addition to their own protocol, so that
 * one client serves all. Features that exist only in their own protocols (prompt caching marks, citations) are not
 * available.
 */
const publicBaseUrls: Readonly<Record<EngineProvider["api"], string | undefined>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta/openai",
  "openai-compatible": undefined,
};

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

export interface Target {
  readonly providerId: string;
  readonly modelId: string;
  readonly provider: EngineProvider;
  readonly baseUrl: string;
}

/** The base URL in a form that may be shown: without user, password and query. */
export function shownUrl(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  return url === null ? "an invalid address" : `${url.origin}${url.pathname}`.replace(/\/$/, "");
}

/** The key and the headers of a provider are checked here, because the error of `fetch` repeats them. */
function checkHeaders(providerId: string, { apiKey, headers = {} }: EngineProvider): void {
  const sent = Object.entries(headers).map(([name, value]) => ({ key: `headers.${name}`, name, value }));
  if (apiKey !== undefined) sent.push({ key: "apiKey", name: "authorization", value: `Bearer ${apiKey}` });
  for (const { key, name, value } of sent) {
    try {
      new Headers([[name, value]]);
    } catch {
      throw new EngineError("model_provider_invalid", {
        detail: `models.providers.${providerId}.${key} cannot be sent in a header`,
        hint: "Copy it again: it must be one line without typographic quotation marks, an ellipsis or the like.",
      });
    }
  }
}

export function findTarget(model: string, providers: EngineTurn["providers"]): Target {
  const slash = model.indexOf("/");
  const providerId = model.slice(0, slash);
  const modelId = model.slice(slash + 1);
  const provider = Object.hasOwn(providers, providerId) ? providers[providerId] : undefined;
  if (slash < 1 || modelId === "" || provider === undefined) {
    const known = Object.keys(providers).join(", ") || "none";
    throw new EngineError("model_unknown", {
      detail: `The model ${model} names no provider of models.providers`,
      hint: `Write it as provider/model; configured providers: ${known}.`,
    });
  }
  const baseUrl = provider.baseUrl ?? publicBaseUrls[provider.api];
  if (baseUrl === undefined || URL.parse(baseUrl) === null) {
    throw new EngineError("model_provider_invalid", {
      detail: `The provider ${providerId} has no usable baseUrl`,
      hint: `Set models.providers.${providerId}.baseUrl, such as http://127.0.0.1:11434/v1.`,
    });
  }
  checkHeaders(providerId, provider);
  return { providerId, modelId, provider, baseUrl };
}

type ModelFacts = NonNullable<EngineProvider["models"]>[string];

function factsIn({ models = {} }: EngineProvider, modelId: string): ModelFacts {
  return (Object.hasOwn(models, modelId) ? models[modelId] : undefined) ?? {};
}

/** What the operator says about a model; empty if the name is unknown. */
export function factsOf(model: string, providers: EngineTurn["providers"]): ModelFacts {
  const slash = model.indexOf("/");
  const id = model.slice(0, Math.max(0, slash));
  const provider = Object.hasOwn(providers, id) ? providers[id] : undefined;
  return provider === undefined ? {} : factsIn(provider, model.slice(slash + 1));
}

/** The provider's request field for reasoning. Empty for `off`, because models without reasoning reject the field. */
function thinkingFields(thinking: Thinking, api: EngineProvider["api"]): { readonly [field: string]: unknown } {
  if (thinking === "off") return {};
  if (api === "anthropic") {
    const budget = thinkingTokens[thinking];
    return { max_tokens: budget + answerTokens, thinking: { type: "enabled", budget_tokens: budget } };
  }
  return { reasoning_effort: thinking === "max" ? "high" : thinking };
}

/** `fetch` rejects URLs with credentials, so these become a header, and the query is appended after the path. */
function address(baseUrl: string): {
  readonly baseURL: string;
  readonly queryParams: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
} {
  const url = new URL(baseUrl);
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    baseURL: `${url.origin}${url.pathname}`.replace(/\/+$/, ""),
    queryParams: Object.fromEntries(url.searchParams),
    headers: user === ":" ? {} : { authorization: `Basic ${Buffer.from(user).toString("base64")}` },
  };
}

/** `without`: fields that the server of the model does not know. */
export function openModel(
  library: Library,
  target: Target,
  { thinking, without }: { readonly thinking: Thinking; readonly without: ReadonlySet<string> },
): Model {
  const { providerId, modelId, provider } = target;
  const { baseURL, queryParams, headers } = address(target.baseUrl);
  const fields = thinkingFields(thinking, provider.api);
  const marks = factsIn(provider, modelId).cacheMarks === true && !without.has("cache_control");
  const model = library
    .createOpenAICompatible({
      name: providerId,
      baseURL,
      queryParams,
      fetch: fetchStream,
      includeUsage: true,
      apiKey: provider.apiKey,
      headers: { ...headers, ...provider.headers },
      transformRequestBody: (body) => withoutFields({ ...(marks ? withCacheMarks(body) : body), ...fields }, without),
    })
    .chatModel(modelId);
  return withImages(library, model);
}
