/** Creates an AI SDK model from `provider/model` and the provider's settings. */
import { EngineError, type EngineProvider, type EngineTurn, type Thinking } from "service-gateway/sdk";
import { addressOf } from "./address.ts";
import { openChat } from "./chat/open.ts";
import type { Library, Model } from "./library.ts";
import { openNative } from "./native/open.ts";
import { type Natives, vendorOf } from "./native/packages.ts";

/** The vendors' own addresses. */
const publicBaseUrls: Readonly<Record<EngineProvider["api"], string | undefined>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
  "openai-compatible": undefined,
};

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
function checkHeaders(providerId: string, { apiKey, keyVariable, headers = {} }: EngineProvider): void {
  const settings = `models.providers.${providerId}`;
  const sent = Object.entries(headers).map(([name, value]) => ({ key: `${settings}.headers.${name}`, name, value }));
  const key = keyVariable ?? `${settings}.apiKey`;
  if (apiKey !== undefined) sent.push({ key, name: "authorization", value: `Bearer ${apiKey}` });
  for (const { key, name, value } of sent) {
    try {
      new Headers([[name, value]]);
    } catch {
      throw new EngineError("model_provider_invalid", {
        detail: `${key} cannot be sent in a header`,
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
      hint:
        `Write it as provider/model; configured providers: ${known}. A provider that is not known by its name needs ` +
        "models.providers.<name>.baseUrl; `config validate` suggests names.",
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

/** The providers of models, without those that are unknown. */
export const providersOf = (names: readonly string[], providers: EngineTurn["providers"]): readonly EngineProvider[] =>
  names.flatMap((name) => {
    const id = name.slice(0, Math.max(0, name.indexOf("/")));
    return (Object.hasOwn(providers, id) ? providers[id] : undefined) ?? [];
  });

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

interface Opening {
  readonly library: Library;
  /** The vendors' protocols that are installed. */
  readonly natives: Natives;
  readonly thinking: Thinking;
  /** Fields that the server of the model does not know. */
  readonly without: ReadonlySet<string>;
  /** Its server refuses a call of a tool without the thought before it. */
  readonly needsThoughts: boolean;
}

/** Where requests beside the chat go, such as `audio/speech`, and the headers that they need. */
export function requestTo(
  target: Target,
  path: string,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const { baseURL, queryParams, headers, apiKey } = addressOf(target);
  const query = new URLSearchParams(queryParams).toString();
  return {
    url: `${baseURL}/${path}${query === "" ? "" : `?${query}`}`,
    headers: { ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }), ...headers },
  };
}

/** In the vendor's own protocol if that is installed, else through chat completions. */
export function openModel(target: Target, { library, natives, thinking, without, needsThoughts }: Opening): Model {
  const { providerId, modelId, provider } = target;
  const { cacheMarks, audio } = factsIn(provider, modelId);
  const address = addressOf(target);
  const own = vendorOf(provider);
  // This vendor's models listen through chat completions only.
  const vendor = own === "openai" && audio === true ? undefined : own;
  const request = { thinking, without, marks: cacheMarks !== false };
  const native = vendor && openNative(library, { vendor, natives, address, modelId }, request);
  if (native !== undefined) return native;
  return openChat(
    library,
    { providerId, modelId, provider, address },
    {
      ...{ ...request, needsThoughts },
      marks: cacheMarks === true,
    },
  );
}
