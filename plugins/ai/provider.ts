/** From `provider/model` and the provider's settings to what the AI SDK calls a model. */
import { EngineError, type EngineProvider, type EngineTurn, type Thinking } from "service-gateway/sdk";
import type { Library, Model } from "./library.ts";

/**
 * Chat-completions endpoints of the vendors. Anthropic and Google have one beside their own protocol, so one
 * client serves all; what only their own protocol has (prompt caching marks, citations) is not reached by it.
 */
const publicBaseUrls: Readonly<Record<EngineProvider["api"], string | undefined>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta/openai",
  "openai-compatible": undefined,
};

/** Tokens to think with, for the vendor that takes a number instead of a word. */
const thinkingTokens: Readonly<Record<Thinking, number>> = { off: 0, minimal: 1_024, low: 4_096, medium: 8_192, high: 16_384, max: 32_768 };
/** Room for the answer beside the thinking: that vendor counts both against one limit. */
const answerTokens = 8_192;

export interface Target {
  readonly providerId: string;
  readonly modelId: string;
  readonly provider: EngineProvider;
  readonly baseUrl: string;
}

/** Base address as people may see it: no user, no password, no query. */
export function shownUrl(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  return url === null ? "an invalid address" : `${url.origin}${url.pathname}`.replace(/\/$/, "");
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
  return { providerId, modelId, provider, baseUrl };
}

/** The provider's option for thinking; nothing for `off`, since models that cannot think refuse the field. */
function thinkingFields(thinking: Thinking, api: EngineProvider["api"]): { readonly [field: string]: unknown } {
  if (thinking === "off") return {};
  if (api === "anthropic") {
    const budget = thinkingTokens[thinking];
    return { max_tokens: budget + answerTokens, thinking: { type: "enabled", budget_tokens: budget } };
  }
  return { reasoning_effort: thinking === "max" ? "high" : thinking };
}

/** What `fetch` refuses inside an address goes where it takes it: a user into a header, a query behind the path. */
function address(baseUrl: string) {
  const url = new URL(baseUrl);
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    baseURL: `${url.origin}${url.pathname}`.replace(/\/+$/, ""),
    queryParams: Object.fromEntries(url.searchParams),
    headers: user === ":" ? {} : { authorization: `Basic ${Buffer.from(user).toString("base64")}` },
  };
}

export function openModel(library: Library, target: Target, thinking: Thinking): Model {
  const { providerId, modelId, provider } = target;
  const { baseURL, queryParams, headers } = address(target.baseUrl);
  const fields = thinkingFields(thinking, provider.api);
  const model = library
    .createOpenAICompatible({
      name: providerId,
      baseURL,
      queryParams,
      includeUsage: true,
      ...(provider.apiKey === undefined ? {} : { apiKey: provider.apiKey }),
      headers: { ...headers, ...provider.headers },
      transformRequestBody: (body) => ({ ...body, ...fields }),
    })
    .chatModel(modelId);
  if (provider.api !== "openai-compatible") return model;
  // Local servers often leave the thoughts of a model in its text, between tags.
  return library.wrapLanguageModel({ model, middleware: library.extractReasoningMiddleware({ tagName: "think" }) });
}
