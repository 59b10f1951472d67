/** Runs a turn: chooses the engine and the model, builds the engine's input and enforces the time limit. */
import type { PlaceSettings } from "../../access/index.ts";
import { type AgentSettings, type AgentsView, agentIds, agentSettings, knownAgentId, resolveModel } from "../../config/index.ts";
import {
  EngineError,
  HostError,
  type Inbound,
  PluginError,
  type Route,
  reasonOf,
  type Thinking,
  type TurnEvent,
} from "../../contract/index.ts";
import { callPlugin, pluginDeadlines, pluginFault } from "../../host/index.ts";
import { reasoningMode } from "../../reply/index.ts";
import type { ChannelCapabilities, EngineDefinition, EngineProvider, EngineTool, EngineTurn, PluginLog } from "../../sdk/contract.ts";
import type { SessionRecord, Store } from "../../state/index.ts";
import { carried, type Visit } from "../../stations/index.ts";
import { askedMessage, readTranscript } from "../conversation/transcript.ts";
import { chooseModels } from "./models.ts";
import { type ActingHint, renderInstructions } from "./prompt.ts";
import { createRunningTurns } from "./running-turns.ts";
import { type Skills, skillTools } from "./skills.ts";
import { cameBeforeStop, placeOf } from "./stops.ts";

export interface Engines {
  get(id: string): EngineDefinition | undefined;
  /** The plugin that registered the engine. */
  plugin?(id: string): string | undefined;
  ids(): readonly string[];
}

/** A turn in progress. */
export interface RunningTurn {
  readonly sessionKey: string;
  /** `fetching` while the files of the message are downloaded. */
  readonly doing: "fetching" | "answering";
  /** Start time, epoch milliseconds. */
  readonly startedAt: number;
}

export interface AgentTurns {
  /** Runs the work that precedes a turn, such as fetching the files of its message. `/stop` aborts it; its result is then not answered. */
  before(
    at: { readonly route: Route; readonly visit: Visit; readonly signal: AbortSignal },
    work: (signal: AbortSignal) => Promise<Inbound>,
  ): Promise<Inbound>;
  /**
   * Runs work between a turn and its reply, such as fetching the reply's files. Resolves with `null` if `/stop` arrived meanwhile; then
   * nothing is sent.
   */
  after<Result>(route: Route, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Result | null>;
  /**
   * For the `turn` station. The stream throws `EngineError` (`stopped`, or the engine's own), `HostError` (`turn_timeout`,
   * `engine_failed`), or the signal's reason.
   */
  turn(inbound: Inbound, route: Route, signal: AbortSignal, visit: Visit): Promise<AsyncIterable<TurnEvent> | null>;
  /** Applies the same limits to a stream that a plugin's tap returned instead of an engine's. */
  guard(
    source: { readonly plugin: string; readonly stream: AsyncIterable<TurnEvent>; readonly inbound: Inbound; readonly route: Route },
    signal: AbortSignal,
  ): AsyncIterable<TurnEvent>;
  /** Stops the running turns that reply to the chat and thread of the route. Returns their number. */
  stop(route: Pick<Route, "to">): number;
  running(): readonly RunningTurn[];
  /** Lets the engines of the configured agents load slow resources ahead of time. Call it after the start. Failures are logged. */
  prepare(): Promise<void>;
}

export interface AgentTurnsOptions {
  readonly config: () => AgentsView;
  readonly store: Pick<Store, "session" | "transcript" | "get">;
  readonly engines: Engines;
  readonly providers: () => Readonly<Record<string, EngineProvider>>;
  readonly tools?: (inbound: Inbound, route: Route) => readonly EngineTool[];
  /** What the instructions say about the acting tools; `undefined` if there are none. */
  readonly acting?: (inbound: Inbound, route: Route) => ActingHint | undefined;
  readonly skills?: Skills;
  /** The capabilities of a channel, for the instructions. */
  readonly capabilities?: (channel: string) => ChannelCapabilities | undefined;
  /** The context before the current message: what happened since the session's last turn. */
  readonly context?: (inbound: Inbound, route: Route, visit: Visit) => Promise<string>;
  /** The configuration of the message's group or topic. */
  readonly place?: (inbound: Inbound) => Pick<PlaceSettings, "skills" | "systemPrompt"> | undefined;
  /** How many user turns of the transcript the model receives; absent: all. */
  readonly historyLimit?: (inbound: Inbound, route: Route) => number | undefined;
  /** Called when a turn is about to begin. */
  readonly onTurn?: (turn: EngineTurn, visit: Visit) => void;
  readonly log: Pick<PluginLog, "info" | "warn" | "debug">;
  readonly now: () => number;
}

/** Set if `/stop` arrived while the files of the message were being fetched. */
const stoppedBefore = carried<true>("stoppedBefore");

interface Preparing extends RunningTurn {
  readonly place: string | undefined;
  stopped: boolean;
  readonly stopper?: AbortController;
}

const defaultTimeoutSeconds = 600;
/** Limits the prompt if no history limit is configured. */
const defaultHistoryTurns = 100;

/** The configured engine, else the first suitable one: one that needs a model if the agent has a model, one that needs none otherwise. */
export function chooseEngine(engines: Engines, agent: AgentSettings, model: string | undefined): EngineDefinition {
  const all = engines.ids().flatMap((id) => engines.get(id) ?? []);
  const chosen =
    agent.engine !== undefined ? engines.get(agent.engine) : all.find((engine) => (engine.needsModel === true) === (model !== undefined));
  if (chosen !== undefined) return chosen;
  const wanted = agent.engine ?? (model === undefined ? "that works without a model" : `for the model ${model}`);
  throw new HostError("engine_unknown", { engine: wanted, known: engines.ids().join(", ") || "none" });
}

function setting<T extends string>(session: SessionRecord | null, key: string): T | undefined {
  const value = session?.settings[key];
  return typeof value === "string" ? (value as T) : undefined;
}

function timeoutOf({ request }: Inbound, { timeoutSeconds }: AgentSettings): number {
  return request?.timeoutSeconds ?? timeoutSeconds ?? defaultTimeoutSeconds;
}

function stoppedTurn(): EngineError {
  return new EngineError("stopped", { detail: "The turn was stopped", hint: "Write again to go on." });
}

export function createAgentTurns(options: AgentTurnsOptions): AgentTurns {
  const { store, engines, log, now } = options;
  const running = createRunningTurns({ now });
  /** Turns that are still being prepared. `/stop` marks them and aborts what it can. */
  const preparing = new Set<Preparing>();

  /**
   * The model chosen in the session. If the list of allowed models no longer contains it, the default answers instead of a permanent error.
   */
  function sessionModel(agent: AgentSettings, session: SessionRecord | null): string | undefined {
    const chosen = setting(session, "model");
    if (chosen === undefined || resolveModel(chosen, agent.models) !== undefined) return chosen;
    log.warn({ session: session?.key, model: chosen }, "the session's model is no longer allowed; the default is used");
    return undefined;
  }

  /** Reads everything that a turn needs once, so that a turn ends with the configuration it began with. */
  async function prepare(inbound: Inbound, route: Route, visit: Visit) {
    const config = options.config();
    const agent = agentSettings(config, knownAgentId(config, route.agentId));
    const session = await store.session(route.sessionKey);
    if (await cameBeforeStop(store, inbound, { route, now: now() })) throw stoppedTurn();
    const models = chooseModels(agent, inbound.request?.model ?? sessionModel(agent, session));
    const engine = chooseEngine(engines, agent, models.model);
    const userTurns = options.historyLimit?.(inbound, route) ?? agent.historyTurns ?? defaultHistoryTurns;
    const alone = route.isolated || engine.stateless === true || userTurns === 0;
    const transcript = alone ? [] : await store.transcript(route.sessionKey, { userTurns, generation: session?.generation ?? 0 });
    // A stateless engine uses only the current message.
    const context = route.isolated || engine.stateless === true ? "" : await options.context?.(inbound, route, visit);
    const place = options.place?.(inbound);
    const skills = engine.stateless === true ? [] : ((await options.skills?.of(agent, place?.skills)) ?? []);
    let messages: EngineTurn["messages"] | undefined;
    let instructions: string | undefined;
    let tools: readonly EngineTool[] | undefined;
    const turn: EngineTurn = {
      agentId: agent.id,
      sessionKey: route.sessionKey,
      inbound,
      ...models,
      thinking: inbound.request?.thinking ?? setting<Thinking>(session, "thinking") ?? agent.thinking ?? "off",
      ...(place?.skills === undefined ? {} : { skills: place.skills }),
      // These are created lazily, because a stateless engine never reads them.
      get messages() {
        messages ??= [...readTranscript(transcript, inbound.id), askedMessage(inbound, context)];
        return messages;
      },
      get instructions() {
        instructions ??= renderInstructions({
          agent,
          inbound,
          route,
          capabilities: route.to === null ? undefined : options.capabilities?.(route.to.channel),
          placePrompts: place?.systemPrompt,
          acting: options.acting?.(inbound, route),
          skills,
        });
        return instructions;
      },
      get tools() {
        tools ??= [...(options.tools?.(inbound, route) ?? []), ...skillTools(skills)];
        return tools;
      },
      providers: options.providers(),
    };
    const timeoutSeconds = timeoutOf(inbound, agent);
    return { engine, turn, timeoutSeconds, history: transcript.length, previewReasoning: reasoningMode(session) === "stream" };
  }

  function engineFailure(engine: string, thrown: unknown): Error {
    if (thrown instanceof HostError || thrown instanceof EngineError) return thrown;
    const plugin = engines.plugin?.(engine) ?? engine;
    const details = { plugin, engine, reason: reasonOf(thrown), fix: "Look at the log lines of this turn." };
    return new PluginError("engine_failed", details, { cause: thrown });
  }

  /** Runs work around a turn in such a way that `/stop` can abort it. */
  async function stoppable<Result>(route: Route, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Result>) {
    const stopper = new AbortController();
    const { sessionKey } = route;
    const asked: Preparing = { sessionKey, place: placeOf(route), doing: "fetching", startedAt: now(), stopped: false, stopper };
    preparing.add(asked);
    try {
      const result = await work(AbortSignal.any([signal, stopper.signal]));
      return { result, stopped: asked.stopped };
    } finally {
      preparing.delete(asked);
    }
  }

  return {
    async before({ route, visit, signal }, work) {
      const { result, stopped } = await stoppable(route, signal, work);
      if (stopped) visit.set(stoppedBefore, true);
      return result;
    },
    async after(route, signal, work) {
      const { result, stopped } = await stoppable(route, signal, work);
      return stopped ? null : result;
    },
    async turn(inbound, route, signal, visit) {
      if (visit.get(stoppedBefore) === true) throw stoppedTurn();
      const { sessionKey } = route;
      const place = placeOf(route);
      const asked: Preparing = { sessionKey, place, doing: "answering", startedAt: now(), stopped: false };
      preparing.add(asked);
      let prepared: Awaited<ReturnType<typeof prepare>>;
      try {
        prepared = await prepare(inbound, route, visit);
      } finally {
        preparing.delete(asked);
      }
      if (asked.stopped) throw stoppedTurn();
      const { engine, turn, history, timeoutSeconds, previewReasoning } = prepared;
      options.onTurn?.(turn, visit);
      log.debug({ engine: engine.id, model: turn.model ?? null, session: route.sessionKey, history }, "turn");
      return running.run(
        {
          plugin: engines.plugin?.(engine.id) ?? engine.id,
          sessionKey,
          place,
          timeoutSeconds,
          previewReasoning,
          begin: (stop) => engine.run(turn, stop),
          failure: (thrown) => engineFailure(engine.id, thrown),
        },
        signal,
      );
    },
    guard({ plugin, stream, inbound, route }, signal) {
      const { agentId, sessionKey } = route;
      const place = placeOf(route);
      const config = options.config();
      const timeoutSeconds = timeoutOf(inbound, agentSettings(config, knownAgentId(config, agentId)));
      const failure = (thrown: unknown) => (thrown instanceof HostError ? thrown : pluginFault({ plugin, doing: "turn" }, thrown));
      return running.run({ plugin, sessionKey, place, timeoutSeconds, previewReasoning: false, begin: () => stream, failure }, signal);
    },
    stop(route) {
      const place = placeOf(route);
      if (place === undefined) return 0;
      const stopped = running.stop(place, stoppedTurn);
      const begun = [...preparing].filter((turn) => turn.place === place);
      for (const turn of begun) {
        turn.stopped = true;
        turn.stopper?.abort(stoppedTurn());
      }
      return stopped + begun.length;
    },
    running: () => [
      ...[...preparing].map(({ sessionKey, doing, startedAt }) => ({ sessionKey, doing, startedAt })),
      ...running.all().map(({ sessionKey, startedAt }) => ({ sessionKey, doing: "answering" as const, startedAt })),
    ],
    async prepare() {
      const config = options.config();
      for (const id of agentIds(config)) {
        try {
          const agent = agentSettings(config, id);
          const engine = chooseEngine(engines, agent, chooseModels(agent, undefined).model);
          const plugin = engines.plugin?.(engine.id) ?? engine.id;
          const asked = { plugin, doing: `prepare of the engine ${engine.id}` };
          await callPlugin(asked, pluginDeadlines.prepare, () => engine.prepare?.());
        } catch (thrown) {
          log.warn({ agent: id, reason: reasonOf(thrown) }, "the agent's engine is not ready");
        }
      }
    },
  };
}
