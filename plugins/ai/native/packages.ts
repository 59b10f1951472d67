/**
 * The vendors' own protocols: packages of the AI SDK that users install beside this program. Without one, the vendor is
 * asked through the chat completions that it offers as well.
 */
import type { EngineProvider } from "service-gateway/sdk";

export type Vendor = Exclude<EngineProvider["api"], "openai-compatible">;

/** What is used of a package. Another version may have none of it. */
interface Package {
  readonly create: unknown;
  readonly version: unknown;
}

const importers = {
  async anthropic() {
    const { createAnthropic: create, VERSION: version } = await import("@ai-sdk/anthropic");
    return { create, version };
  },
  async google() {
    const { createGoogle: create, VERSION: version } = await import("@ai-sdk/google");
    return { create, version };
  },
  async openai() {
    const { createOpenAI: create, VERSION: version } = await import("@ai-sdk/openai");
    return { create, version };
  },
} as const;

/** The major version of the packages that the AI SDK of this program works with. */
export const neededMajor = "4";

/** What is loaded, by vendor. */
export type Natives = { readonly [V in Vendor]?: Awaited<ReturnType<(typeof importers)[V]>>["create"] };

export interface NativePackages {
  /** Imports what these providers use and is installed. */
  of(providers: Iterable<EngineProvider>): Promise<Natives>;
  /** The vendors that are asked through chat completions because their package is not there, or cannot be used. */
  missing(): readonly MissingPackage[];
}

export interface MissingPackage {
  readonly vendor: Vendor;
  /** Why it cannot be used; absent if it is not installed. */
  readonly fault?: string;
}

/** The vendor whose protocol a provider speaks; `undefined`: chat completions only. */
export function vendorOf({ api, protocol, baseUrl = "" }: EngineProvider): Vendor | undefined {
  if (api === "openai-compatible" || protocol === "chat") return undefined;
  // The end of Google's address for chat completions.
  return api === "google" && /\/openai\/?(?:\?|$)/.test(baseUrl) ? undefined : api;
}

/** A package that lacks a file, or another package, fails with the same code, and names that. */
function isAbsent(vendor: Vendor, error: unknown): boolean {
  const { code, message = "" } = (error ?? {}) as { readonly code?: unknown; readonly message?: string };
  return code === "ERR_MODULE_NOT_FOUND" && message.includes(`package '@ai-sdk/${vendor}'`);
}

/** Throws if the package is of a version that this program does not work with. */
function checked({ create, version }: Package): unknown {
  const shown = typeof version === "string" ? version : "unknown";
  if (shown.split(".", 1)[0] !== neededMajor || typeof create !== "function")
    throw new Error(`its version is ${shown}, and version ${neededMajor} is needed`);
  return create;
}

/** One for each plugin instance: a package that is installed later is found after a restart. */
export function createNatives({
  load = importers,
  onBroken,
}: {
  readonly load?: { readonly [V in Vendor]: () => Promise<Package> };
  /** A package is there and cannot be used. */
  readonly onBroken: (vendor: Vendor, fault: string) => void;
}): NativePackages {
  const loading = new Map<Vendor, Promise<unknown>>();
  const missing = new Map<Vendor, MissingPackage>();
  const one = (vendor: Vendor): Promise<unknown> => {
    const known = loading.get(vendor);
    if (known !== undefined) return known;
    const promise = load[vendor]()
      .then(checked)
      .catch((error: unknown) => {
        const fault = isAbsent(vendor, error) ? undefined : oneLine(error);
        if (fault !== undefined) onBroken(vendor, fault);
        missing.set(vendor, { vendor, fault });
        return undefined;
      });
    loading.set(vendor, promise);
    return promise;
  };
  return {
    missing: () => [...missing.values()],
    async of(providers) {
      const vendors = new Set([...providers].flatMap((provider) => vendorOf(provider) ?? []));
      const found = await Promise.all([...vendors].map(async (vendor) => [vendor, await one(vendor)] as const));
      return Object.fromEntries(found.filter(([, create]) => create !== undefined)) as Natives;
    },
  };
}

/** Some errors of modules list what required them, line by line. */
function oneLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
  return line
    .replace(/ imported from .*/, "")
    .slice(0, 300)
    .replace(/\.$/, "");
}
