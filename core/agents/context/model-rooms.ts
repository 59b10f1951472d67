/**
 * How many tokens each model takes: by the configuration, by what a refusal of its server named, by the list of known
 * models, else a usual number. What servers have shown is remembered in the store, with its date.
 */
import type { Json } from "../../contract/index.ts";
import { isPrivateHost } from "../../media/address.ts";
import {
  type EngineProvider,
  firstMargin,
  learnTokens,
  likelyTokens,
  type ModelRoom,
  type PluginLog,
  type TextSizes,
  usualTokensPer,
} from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";

type Providers = Readonly<Record<string, EngineProvider>>;

const namespace = "model-rooms";
/** A server may be started with another size. Another refusal costs less than a room that is too small for ever. */
const refusalMs = 30 * 24 * 3_600_000;
const keepMs = 90 * 24 * 3_600_000;
/** How long what another node has learned may be unknown here. */
const freshMs = 60_000;

const usual = { local: 32_000, other: 128_000 } as const;
/** The smallest context that is still common. */
const smallRoom = 4_096;
/** From how many tokens of a request on it matters whether a model takes more than usual. */
const lookFrom = 32_000;

interface Remembered {
  /** `set`: what the configuration said when the server refused. */
  readonly refused?: { readonly tokens: number; readonly at: number; readonly set: number | null };
  readonly listed?: { readonly tokens: number; readonly at: number };
  readonly tokensPer?: TextSizes;
  readonly margin?: number;
  /** The longest request that the server has answered, in tokens. */
  readonly accepted?: number;
}

/** What a server has shown about a request. */
export interface CountedRequest {
  readonly model: string;
  readonly sizes: TextSizes;
  readonly inputTokens: number;
}

export interface RefusedRequest {
  readonly model: string;
  readonly sizes: TextSizes;
  readonly named?: number;
}

export interface ModelRooms {
  /** What is known about models, by name. */
  of(models: readonly string[], providers: Providers): Promise<Readonly<Record<string, ModelRoom>>>;
  /** When a refusal showed the room of the model; `undefined` if it is known otherwise. */
  learnedAt(model: string, providers: Providers): Promise<number | undefined>;
  counted(request: CountedRequest, providers: Providers): Promise<void>;
  refused(request: RefusedRequest, providers: Providers): Promise<ModelRoom>;
}

function factsOf(model: string, providers: Providers): { readonly provider?: EngineProvider; readonly set?: number } {
  const slash = model.indexOf("/");
  const id = model.slice(0, Math.max(0, slash));
  const provider = Object.hasOwn(providers, id) ? providers[id] : undefined;
  const { models = {} } = provider ?? {};
  const name = model.slice(slash + 1);
  return { provider, set: Object.hasOwn(models, name) ? models[name]?.contextTokens : undefined };
}

/** Whether the server is on this machine or in its own network, as far as its address shows. */
export function isLocal({ baseUrl }: Pick<EngineProvider, "baseUrl">): boolean {
  const host = baseUrl === undefined ? undefined : URL.parse(baseUrl)?.hostname;
  return host !== undefined && isPrivateHost(host);
}

export function createModelRooms({
  store,
  log,
  now,
}: {
  readonly store: Pick<Store, "get" | "update">;
  readonly log: Pick<PluginLog, "info" | "warn">;
  readonly now: () => number;
}): ModelRooms {
  const known = new Map<string, { readonly value: Remembered; readonly at: number }>();

  async function read(model: string): Promise<Remembered> {
    const found = known.get(model);
    if (found !== undefined && now() - found.at < freshMs) return found.value;
    const stored = ((await store.get(namespace, model)) ?? {}) as Remembered;
    // What this node has counted since is newer.
    const value = { ...stored, ...(found !== undefined && pick(found.value)) };
    known.set(model, { value, at: now() });
    return value;
  }

  /** Changes what is known, here and in the store. */
  async function write(model: string, changes: Partial<Remembered>): Promise<void> {
    const before = known.get(model)?.value ?? {};
    known.set(model, { value: { ...before, ...changes }, at: now() });
    await store.update(
      namespace,
      model,
      (value) => ({ ...((value ?? {}) as Remembered), ...changes }) as unknown as Json,
      { expiresAt: now() + keepMs },
    );
  }

  function roomOf(model: string, remembered: Remembered, providers: Providers): ModelRoom {
    const { provider, set } = factsOf(model, providers);
    const { tokensPer = usualTokensPer, margin = firstMargin } = remembered;
    const as = (source: ModelRoom["source"], tokens: number): ModelRoom => ({ tokens, source, tokensPer, margin });
    const refused = remembered.refused;
    const holds = refused !== undefined && now() - refused.at < refusalMs;
    // A setting that its server has contradicted since is not believed, until it changes.
    if (set !== undefined) return holds && refused.set === set ? as("refusal", refused.tokens) : as("config", set);
    if (holds) return as("refusal", refused.tokens);
    if (remembered.listed !== undefined) return as("list", remembered.listed.tokens);
    return as("default", provider !== undefined && isLocal(provider) ? usual.local : usual.other);
  }

  /** The list takes 20 MB of memory, so it is read only once a conversation is long. */
  async function look(model: string, providers: Providers): Promise<void> {
    const { provider, set } = factsOf(model, providers);
    if (provider === undefined || set !== undefined || isLocal(provider)) return;
    const { listed, refused } = await read(model);
    if (listed !== undefined || refused !== undefined) return;
    const { listedContext } = await import("../spending/price-list.ts");
    const tokens = listedContext(model.slice(model.indexOf("/") + 1), provider) ?? usual.other;
    await write(model, { listed: { tokens, at: now() } });
  }

  return {
    async of(models, providers) {
      const all = await Promise.all(models.map(async (model) => roomOf(model, await read(model), providers)));
      return Object.fromEntries(models.map((model, index) => [model, all[index] as ModelRoom]));
    },
    async learnedAt(model, providers) {
      const remembered = await read(model);
      return roomOf(model, remembered, providers).source === "refusal" ? remembered.refused?.at : undefined;
    },
    async counted({ model, sizes, inputTokens }, providers) {
      const before = await read(model);
      const room = roomOf(model, before, providers);
      const { tokensPer, margin } = learnTokens(room, sizes, inputTokens);
      const accepted = Math.max(before.accepted ?? 0, inputTokens);
      known.set(model, { value: { ...before, tokensPer, margin, accepted }, at: known.get(model)?.at ?? now() });
      if (isWorthStoring(before, { tokensPer, margin })) await write(model, { tokensPer, margin, accepted });
      if (inputTokens > lookFrom) await look(model, providers);
    },
    async refused({ model, sizes, named }, providers) {
      const before = await read(model);
      const room = roomOf(model, before, providers);
      const asked = likelyTokens(room, sizes);
      const { set = null } = factsOf(model, providers);
      // Where the server names no number, what it has answered before fits, and so does a small request.
      const guess = Math.max(before.accepted ?? 0, Math.min(smallRoom, Math.floor(asked / 2)));
      const tokens = Math.max(256, Math.min(named ?? Math.min(guess, Math.floor(asked * 0.9)), room.tokens));
      // The same number again: it counts something that the estimate does not.
      const less = tokens < room.tokens ? tokens : Math.floor(room.tokens * 0.8);
      await write(model, { refused: { tokens: less, at: now(), set } });
      const level = set !== null && set > less ? "warn" : "info";
      log[level](
        { model, tokens: less, ...(set !== null && { path: `models.providers.${model.replace("/", ".models.")}` }) },
        set !== null && set > less
          ? "contextTokens is larger than what the server of the model takes; what it takes is used"
          : "the size of the model's context is known from a refusal",
      );
      return roomOf(model, { ...before, refused: { tokens: less, at: now(), set } }, providers);
    },
  };
}

/** What each request changes. */
function pick({ tokensPer, margin, accepted }: Remembered): Partial<Remembered> {
  return {
    ...(tokensPer !== undefined && { tokensPer }),
    ...(margin !== undefined && { margin }),
    ...(accepted !== undefined && { accepted }),
  };
}

/** A change of less than that is not worth a write. */
const smallChange = 0.03;

function isWorthStoring(before: Remembered, after: Required<Pick<Remembered, "tokensPer" | "margin">>): boolean {
  if (before.tokensPer === undefined || before.margin === undefined) return true;
  const changed = after.tokensPer.some((each, index) => {
    const earlier = before.tokensPer?.[index] ?? each;
    return Math.abs(each - earlier) > smallChange * earlier;
  });
  return changed || Math.abs(after.margin - before.margin) > smallChange;
}
