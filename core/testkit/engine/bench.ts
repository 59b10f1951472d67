/** One engine on the bench: its plugin set up, its model server, and turns for it. */
import { validateSection } from "../../config/index.ts";
import { turnEventProblem } from "../../host/index.ts";
import type {
  EngineDefinition,
  EngineTurn,
  Inbound,
  PluginDefinition,
  PluginHost,
  TurnEvent,
} from "../../sdk/contract.ts";
import { createMemoryStore, recordingLog } from "../channel/test-account.ts";
import { type PlayedClock, realWait, usePlayedClock } from "../host/played-clock.ts";
import type { EngineContractOptions, ModelServer } from "./options.ts";

/** How long a rule waits for something that has to come, in real time. */
const usualPatienceMs = 15_000;

/** What a turn came to. */
export interface Run {
  readonly events: readonly TurnEvent[];
  /** The deltas of the text, joined; those before a restart are void. */
  readonly text: string;
  /** What the stream threw. */
  readonly error?: unknown;
}

/** What a rule works with. */
export interface EngineBench {
  readonly engine: EngineDefinition;
  readonly clock: PlayedClock;
  /** How long a rule waits for what has to come, in real time. */
  readonly patienceMs: number;
  /** Each line of the plugin's log with its fields, as text. */
  readonly logged: readonly string[];
  /** Throws where the contract was given no server. */
  readonly server: ModelServer;
  turn(text: string, more?: Partial<EngineTurn>): EngineTurn;
  /** Runs a turn to its end; throws when it does not come in time. */
  run(
    turn: EngineTurn,
    how?: { readonly signal?: AbortSignal; readonly onEvent?: (event: TurnEvent) => void },
  ): Promise<Run>;
  until(condition: () => boolean, sentence: () => string): Promise<void>;
}

/** The engines that a plugin registers, and what its log contains. */
async function setUp(plugin: PluginDefinition, options: Readonly<Record<string, unknown>>, { now }: PlayedClock) {
  const engines: EngineDefinition[] = [];
  const logged: string[] = [];
  const closing = new AbortController();
  const closers: (() => void | Promise<void>)[] = [];
  let ids = 0;
  const nothing = () => {};
  const host: Partial<PluginHost> = {
    id: plugin.id,
    log: recordingLog(logged),
    store: createMemoryStore(now),
    signal: closing.signal,
    now,
    newId() {
      ids += 1;
      return `id-${ids}`;
    },
    engine: (definition) => void engines.push(definition),
    onClose: (close) => void closers.push(close),
    ...{
      tap: nothing,
      command: nothing,
      route: nothing,
      devices: nothing,
      check: nothing,
      status: nothing,
      onReady: nothing,
    },
  };
  const checked = plugin.options === undefined ? undefined : validateSection(plugin.options, options, "options");
  const problem = checked?.problems.find(({ severity }) => severity === "error");
  if (problem !== undefined)
    throw new Error(`The options of the contract are refused: ${problem.path}: ${problem.message}`);
  await plugin.setup(host as PluginHost, (checked?.value ?? options) as never);
  const [engine, more] = engines;
  if (engine === undefined) throw new Error("The plugin registers no engine. Call host.engine in setup.");
  if (more !== undefined) throw new Error("The plugin registers several engines. Test one engine at a time.");
  const close = async () => {
    for (const closer of closers.toReversed()) await closer();
    closing.abort();
  };
  return { engine, logged, close };
}

function inboundOf(text: string): Inbound {
  const chat = { id: "7", kind: "direct" } as const;
  return {
    ...{
      id: "event-1",
      channel: "contract",
      account: "default",
      kind: "message",
      chat,
      sender: { id: "7", name: "Ada" },
    },
    ...{ text, media: [], mention: true, timestamp: 1_760_000_000_000, authority: "channel" },
  };
}

/** Puts the engine on the bench for one rule, and leaves nothing behind. */
export async function withEngineBench(
  options: EngineContractOptions,
  attempt: (bench: EngineBench) => Promise<void>,
  { patienceMs = usualPatienceMs }: { readonly patienceMs?: number } = {},
): Promise<void> {
  const clock = usePlayedClock();
  let server: ModelServer | undefined;
  let close: (() => Promise<void>) | undefined;
  try {
    server = await options.server?.open();
    const parts = await setUp(options.engine, { ...options.options, ...server?.options }, clock);
    close = parts.close;
    await attempt(createEngineBench({ ...parts, clock, opened: server, patienceMs }));
  } finally {
    await close?.();
    await server?.close();
    clock.release();
  }
}

function createEngineBench({
  opened,
  patienceMs,
  ...parts
}: Pick<EngineBench, "engine" | "clock" | "logged"> & {
  readonly opened: ModelServer | undefined;
  readonly patienceMs: number;
}): EngineBench {
  const bench: EngineBench = {
    ...parts,
    patienceMs,
    get server() {
      if (opened === undefined) throw new Error("This rule requires a model server.");
      return opened;
    },
    turn: (text, more = {}) => ({
      ...{ agentId: "main", sessionKey: "agent:main:main", inbound: inboundOf(text), fallbacks: [], thinking: "off" },
      ...{ instructions: "Be short.", messages: [{ role: "user", text }], tools: [], providers: {} },
      ...opened?.turn,
      ...more,
    }),
    async run(turn, { signal = new AbortController().signal, onEvent } = {}) {
      const ended = await Promise.race([collect(() => bench.engine.run(turn, signal), onEvent), realWait(patienceMs)]);
      if (ended === undefined)
        throw new Error("The turn does not end in time. End with done, or throw an EngineError.");
      return ended;
    },
    async until(condition, sentence) {
      for (const from = performance.now(); !condition(); await realWait(5))
        if (performance.now() - from > patienceMs) throw new Error(sentence());
    },
  };
  return bench;
}

async function collect(
  run: () => AsyncIterable<TurnEvent>,
  onEvent: (event: TurnEvent) => void = () => {},
): Promise<Run> {
  const events: TurnEvent[] = [];
  const text = () => textOf(events);
  try {
    for await (const event of run()) {
      const problem = turnEventProblem(event);
      if (problem !== undefined) throw new TypeError(`The stream contains an invalid event: ${problem}.`);
      events.push(event);
      onEvent(event);
    }
  } catch (error) {
    return { events, text: text(), error };
  }
  return { events, text: text() };
}

function textOf(events: readonly TurnEvent[]): string {
  const begun = events.slice(events.findLastIndex(({ type }) => type === "restart") + 1);
  return begun.flatMap((event) => (event.type === "text" ? [event.delta] : [])).join("");
}
