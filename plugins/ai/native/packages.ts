/**
 * The vendors' own protocols: packages of the AI SDK that users install beside this program. Without one, the vendor is
 * asked through the chat completions that it offers as well.
 */
import type { EngineProvider } from "service-gateway/sdk";

export type Vendor = Exclude<EngineProvider["api"], "openai-compatible">;

const importers = {
  anthropic: async () => (await import("@ai-sdk/anthropic")).createAnthropic,
  google: async () => (await import("@ai-sdk/google")).createGoogle,
  openai: async () => (await import("@ai-sdk/openai")).createOpenAI,
} as const;

/** What is loaded, by vendor. */
export type Natives = { readonly [V in Vendor]?: Awaited<ReturnType<(typeof importers)[V]>> };

export interface NativePackages {
  /** Imports what these providers use and is installed. */
  of(providers: Iterable<EngineProvider>): Promise<Natives>;
  /** The vendors that are asked through chat completions because their package is not there. */
  missing(): readonly Vendor[];
}

/** The vendor whose protocol a provider speaks; `undefined`: chat completions only. */
export function vendorOf({ api, protocol, baseUrl = "" }: EngineProvider): Vendor | undefined {
  if (api === "openai-compatible" || protocol === "chat") return undefined;
  // The end of Google's address for chat completions.
  return api === "google" && /\/openai\/?(?:\?|$)/.test(baseUrl) ? undefined : api;
}

/** One for each plugin instance: a package that is installed later is found after a restart. */
export function createNatives({
  load = importers,
  onBroken,
}: {
  readonly load?: { readonly [V in Vendor]: () => Promise<unknown> };
  /** A package is there and cannot be used. */
  readonly onBroken: (vendor: Vendor, error: unknown) => void;
}): NativePackages {
  const loading = new Map<Vendor, Promise<unknown>>();
  const missing = new Set<Vendor>();
  const one = (vendor: Vendor): Promise<unknown> => {
    const known = loading.get(vendor);
    if (known !== undefined) return known;
    const promise = load[vendor]().catch((error: unknown) => {
      if ((error as { readonly code?: unknown } | null)?.code !== "ERR_MODULE_NOT_FOUND") onBroken(vendor, error);
      missing.add(vendor);
      return undefined;
    });
    loading.set(vendor, promise);
    return promise;
  };
  return {
    missing: () => [...missing],
    async of(providers) {
      const vendors = new Set([...providers].flatMap((provider) => vendorOf(provider) ?? []));
      const found = await Promise.all([...vendors].map(async (vendor) => [vendor, await one(vendor)] as const));
      return Object.fromEntries(found.filter(([, create]) => create !== undefined)) as Natives;
    },
  };
}
