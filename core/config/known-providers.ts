/** The model servers that are known by name, so that `provider/model` and a key are enough. Only data. */

export interface KnownProvider {
  /** The protocol that its address speaks. */
  readonly api: "openai" | "anthropic" | "google" | "openai-compatible";
  /** Where it is reached unless `baseUrl` is set. */
  readonly address: string;
  /** The environment variable of its key. Absent: a server on this machine, which needs no key. */
  readonly keyVariable?: string;
}

const known: Readonly<Record<string, KnownProvider>> = {
  anthropic: { api: "anthropic", address: "https://api.anthropic.com/v1", keyVariable: "ANTHROPIC_API_KEY" },
  openai: { api: "openai", address: "https://api.openai.com/v1", keyVariable: "OPENAI_API_KEY" },
  google: {
    api: "google",
    address: "https://generativelanguage.googleapis.com/v1beta",
    keyVariable: "GEMINI_API_KEY",
  },
  openrouter: {
    api: "openai-compatible",
    address: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
  },
  mistral: { api: "openai-compatible", address: "https://api.mistral.ai/v1", keyVariable: "MISTRAL_API_KEY" },
  groq: { api: "openai-compatible", address: "https://api.groq.com/openai/v1", keyVariable: "GROQ_API_KEY" },
  deepseek: { api: "openai-compatible", address: "https://api.deepseek.com", keyVariable: "DEEPSEEK_API_KEY" },
  xai: { api: "openai-compatible", address: "https://api.x.ai/v1", keyVariable: "XAI_API_KEY" },
  together: { api: "openai-compatible", address: "https://api.together.ai/v1", keyVariable: "TOGETHER_API_KEY" },
  fireworks: {
    api: "openai-compatible",
    address: "https://api.fireworks.ai/inference/v1",
    keyVariable: "FIREWORKS_API_KEY",
  },
  cerebras: { api: "openai-compatible", address: "https://api.cerebras.ai/v1", keyVariable: "CEREBRAS_API_KEY" },
  // At the ports that these programs use by default.
  ollama: { api: "openai-compatible", address: "http://127.0.0.1:11434/v1" },
  lmstudio: { api: "openai-compatible", address: "http://127.0.0.1:1234/v1" },
  llamacpp: { api: "openai-compatible", address: "http://127.0.0.1:8080/v1" },
  vllm: { api: "openai-compatible", address: "http://127.0.0.1:8000/v1" },
};

/** The headers with which a server lists its models to the holder of a key. */
export function listingHeaders(api: KnownProvider["api"], key: string | undefined): Readonly<Record<string, string>> {
  if (key === undefined) return {};
  if (api === "anthropic") return { "x-api-key": key, "anthropic-version": "2023-06-01" };
  return api === "google" ? { "x-goog-api-key": key } : { authorization: `Bearer ${key}` };
}

/** The protocol of every server that is not a vendor's own. */
export const commonApi = "openai-compatible" satisfies KnownProvider["api"];

export const knownProviderIds: readonly string[] = Object.keys(known);

export function knownProvider(id: string): KnownProvider | undefined {
  return Object.hasOwn(known, id) ? known[id] : undefined;
}
