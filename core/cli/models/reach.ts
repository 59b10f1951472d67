/**
 * Looks whether the server of a model answers at all. `models list` sends no key: `models test` shows whether it is
 * accepted.
 */
import type { Place } from "../../reports/models.ts";

const patienceMs = 5_000;
/** Lists of providers with many models are longer, and are not read. */
const maxBytes = 1_048_576;

export interface Reached {
  readonly reachable: boolean;
  /** How long the answer took. */
  readonly ms?: number;
  /** Why there was none. */
  readonly detail?: string;
  /** The models that it lists. */
  readonly models?: readonly string[];
}

function listedIn(text: string): readonly string[] | undefined {
  try {
    // One vendor's own protocol has `models` with a `name` such as `models/small`.
    const { data, models } = JSON.parse(text) as { readonly data?: unknown; readonly models?: unknown };
    const list = data ?? models;
    if (!Array.isArray(list)) return undefined;
    return list.flatMap(({ id, name }: { readonly id?: unknown; readonly name?: unknown }) => {
      const found = id ?? name;
      return typeof found === "string" ? [found.replace(/^models\//, "")] : [];
    });
  } catch {
    return undefined;
  }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "no program listens there",
  ENOTFOUND: "the name is not known",
  EAI_AGAIN: "the name is not known",
  ECONNRESET: "the connection was cut",
};

function detailOf(thrown: unknown): string {
  let detail = String(thrown);
  for (let error = thrown; error instanceof Error; error = error.cause) {
    const { code } = error as { readonly code?: unknown };
    if (typeof code === "string") return reasons[code] ?? code;
    detail = error.message;
  }
  return detail;
}

export async function reach(
  address: string,
  { now, headers = {} }: { readonly now: () => number; readonly headers?: Readonly<Record<string, string>> },
): Promise<Reached> {
  const { fetchWhole, ResponseLimitError } = await import("../../sdk/reading.ts");
  const began = now();
  try {
    const { ok, text } = await fetchWhole(`${address}/models`, {
      headers,
      maxBytes,
      timeoutMs: patienceMs,
      redirect: "manual",
    });
    const models = ok ? listedIn(text) : undefined;
    return { reachable: true, ms: Math.round(now() - began), ...(models !== undefined && { models }) };
  } catch (thrown) {
    // It has answered, with more than is of interest.
    if (thrown instanceof ResponseLimitError && thrown.limit === "bytes")
      return { reachable: true, ms: Math.round(now() - began) };
    if (thrown instanceof ResponseLimitError) return { reachable: false, detail: "no answer in time" };
    return { reachable: false, detail: detailOf(thrown) };
  }
}

/** Each address once, without those of models that cannot be asked anyway. */
export async function reachAll(
  places: readonly Place[],
  clock: { readonly now: () => number },
): Promise<ReadonlyMap<string, Reached>> {
  const addresses = new Set(places.flatMap(({ view }) => (view.problem === undefined ? (view.address ?? []) : [])));
  return new Map(
    await Promise.all([...addresses].map(async (address) => [address, await reach(address, clock)] as const)),
  );
}

/** Some servers name a model with the tag that it has without one. */
export const isListed = (models: readonly string[], id: string): boolean =>
  models.includes(id) || models.includes(`${id}:latest`);
