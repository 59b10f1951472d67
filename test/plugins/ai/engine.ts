/** The engine of the plugin, set up as the host does it, and a turn for it. */
import type { EngineDefinition, EngineTurn, Inbound, PluginHost, TurnEvent } from "service-gateway/sdk";
import type { TurnRoom } from "service-gateway/sdk/tools";
import { createModelRooms } from "../../../core/agents/context/model-rooms.ts";
import { createTurnRoom } from "../../../core/agents/context/turn-fill.ts";
import type { Json } from "../../../core/contract/types.ts";
import { Visit } from "../../../core/stations/visit.ts";
import ai from "../../../plugins/ai/index.ts";

export interface Warning {
  readonly [field: string]: unknown;
}

// Longer than a busy machine takes to send a large request.
const patience = { firstChunkMs: 60_000, chunkMs: 60_000, retries: 2, retryDelayMs: 5, maxSteps: 5 };

export function openEngine({
  now = Date.now,
  ...options
}: Partial<typeof patience> & { readonly now?: () => number } = {}): {
  readonly engine: EngineDefinition;
  readonly warnings: readonly Warning[];
  readonly errors: readonly Warning[];
} {
  const warnings: Warning[] = [];
  const errors: Warning[] = [];
  let engine: EngineDefinition | undefined;
  const host = {
    engine(definition: EngineDefinition) {
      engine = definition;
    },
    check() {},
    now,
    log: { warn: (fields: Warning) => warnings.push(fields), error: (fields: Warning) => errors.push(fields) },
  };
  void ai.setup(host as unknown as PluginHost, { ...patience, ...options });
  if (engine === undefined) throw new Error("the plugin registered no engine");
  return { engine, warnings, errors };
}

export function turnOf(text: string, more: Partial<EngineTurn>): EngineTurn {
  return {
    agentId: "main",
    sessionKey: "agent:main:main",
    inbound: { text } as Inbound,
    model: "local/small",
    fallbacks: [],
    thinking: "off",
    instructions: "Be short.",
    messages: [{ role: "user", text }],
    tools: [],
    providers: {},
    ...more,
  };
}

export interface Outcome {
  readonly events: readonly TurnEvent[];
  readonly text: string;
  readonly reasoning: string;
  readonly error?: unknown;
}

/** Everything until the end, the error included. */
export async function collect(stream: AsyncIterable<TurnEvent>): Promise<Outcome> {
  const events: TurnEvent[] = [];
  // What came before a restart is void.
  const left = () => events.slice(events.findLastIndex(({ type }) => type === "restart") + 1);
  const join = (type: "text" | "reasoning") =>
    left()
      .flatMap((event) => (event.type === type ? [event.delta] : []))
      .join("");
  try {
    for await (const event of stream) events.push(event);
  } catch (error) {
    return { events, text: join("text"), reasoning: join("reasoning"), error };
  }
  return { events, text: join("text"), reasoning: join("reasoning") };
}

/** What the gateway hands to an engine about the contexts of models; remembers what it learns. */
export function openRooms() {
  const stored = new Map<string, Json>();
  const rooms = createModelRooms({
    store: {
      get: async (_, key) => stored.get(key) ?? null,
      async update(_, key, change) {
        const next = change(stored.get(key) ?? null) ?? null;
        stored.set(key, next);
        return next;
      },
    },
    log: { info() {}, warn() {} },
    now: Date.now,
  });
  return {
    stored,
    async of(providers: EngineTurn["providers"], ...models: readonly string[]): Promise<TurnRoom> {
      const visit = new Visit();
      return createTurnRoom(await rooms.of(models, providers), {
        ...{ fill: undefined, visit, rooms, providers },
        log: { debug() {} },
      });
    },
  };
}
