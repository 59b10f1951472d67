/** Runs a turn: chooses engine and model, builds what the engine is handed, and ends it in time. */
import { agentSettings, knownAgentId } from "../../config/index.ts";
import { HostError, type Inbound, type Route, type TurnEvent } from "../../contract/index.ts";
import { pluginFault } from "../../host/index.ts";
import type { EngineTurn, PluginLog } from "../../sdk/contract.ts";
import { addHold, askedModels, carried, countedAttempt, Visit } from "../../stations/index.ts";
import { askerOf } from "../spending/asker.ts";
import { gatherTools, type TurnTools } from "../tools/turn-tools.ts";
import { engineFailure, pluginOf, prepareEngines, retainedEngines } from "./engines.ts";
import { createPreparingTurns, type RunningTurn, stoppedTurn } from "./preparing-turns.ts";
import { createRunningTurns } from "./running-turns.ts";
import { placeOf, type Stop } from "./stops.ts";
import { createTurnInput, type TurnInputOptions, timeLimitOf } from "./turn-input.ts";

export interface AgentTurns {
  /**
   * Runs the work that precedes a turn, such as fetching the files of its message. `/stop` aborts it; its result is
   * then not answered.
   */
  before(
    at: { readonly event: string; readonly route: Route; readonly visit: Visit; readonly signal: AbortSignal },
    work: (signal: AbortSignal) => Promise<Inbound>,
  ): Promise<Inbound>;
  /**
   * Runs work between a turn and its reply, such as fetching the reply's files. Resolves with `null` if `/stop` arrived
   * meanwhile; then nothing is sent.
   */
  after<Result>(
    route: Route,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result | null>;
  /**
   * For the `turn` station. The stream throws `EngineError` (`stopped`, or the engine's own), `HostError`
   * (`turn_timeout`, `engine_failed`), or the signal's reason.
   */
  turn(inbound: Inbound, route: Route, signal: AbortSignal, visit: Visit): Promise<AsyncIterable<TurnEvent> | null>;
  /** Applies the same limits to a stream that a plugin's tap returned instead of an engine's. */
  guard(
    source: {
      readonly plugin: string;
      readonly stream: AsyncIterable<TurnEvent>;
      readonly inbound: Inbound;
      readonly route: Route;
    },
    signal: AbortSignal,
  ): AsyncIterable<TurnEvent>;
  /**
   * Stops the running turns that reply to the chat and thread of the route, except those of later events. Returns their
   * number.
   */
  stop(route: Pick<Route, "to">, stop: Stop): number;
  /** As `stop`, for a place as `placeOf` names it. */
  stopAt(place: string, stop: Stop): number;
  /** Stops the turns of these events. */
  stopEvents(events: readonly string[]): void;
  running(): readonly RunningTurn[];
  /**
   * The tools that the agent of the route has there, and what their sources say. Rejects as a turn would without a
   * source it needs.
   */
  tools(inbound: Inbound, route: Route): Promise<Pick<TurnTools, "list" | "notes">>;
  /**
   * Lets the engines of the configured agents load slow resources ahead of time. Call it after the start. Failures are
   * logged.
   */
  prepare(): Promise<void>;
}

export interface AgentTurnsOptions extends TurnInputOptions {
  /** A call of a model has succeeded. */
  readonly onAnswer?: (model: string) => void;
  /** None of the models answered when they were asked last. */
  readonly areAway?: (models: readonly string[]) => boolean;
  /** A turn is about to begin. */
  readonly onTurn?: (turn: EngineTurn, visit: Visit) => void;
  readonly log: Pick<PluginLog, "info" | "warn" | "debug">;
}

/** Set if `/stop` arrived while the files of the message were being fetched. */
const stoppedBefore = carried<true>("stoppedBefore");

/**
 * A turn that no person watches asks a model that is away: until it answers, the turn only waits, and its attempt does
 * not count. Returns what ends the wait.
 */
function asking(visit: Visit): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  void visit
    .get(countedAttempt)
    ?.waitFor(promise)
    .catch(() => {});
  return resolve;
}

export function createAgentTurns(options: AgentTurnsOptions): AgentTurns {
  const { engines, log, now } = options;
  const running = createRunningTurns({ now });
  const preparing = createPreparingTurns({ now });
  const read = createTurnInput(options);
  const stopAt = (place: string, stop: Stop): number =>
    running.stop(place, stop, stoppedTurn) + preparing.stop(place, stop);

  return {
    async before({ event, route, visit, signal }, work) {
      const { result, stopped } = await preparing.beside({ route, event }, signal, work);
      if (stopped) visit.set(stoppedBefore, true);
      return result;
    },
    async after(route, signal, work) {
      const { result, stopped } = await preparing.beside({ route }, signal, work);
      return stopped ? null : result;
    },
    async turn(inbound, route, signal, visit) {
      if (visit.get(stoppedBefore) === true) throw stoppedTurn();
      const { engine, turn, history, limit, meter, skipped, previewReasoning } = await preparing.reading(
        { route, event: inbound.id },
        () => read(inbound, route, visit),
      );
      const retained = retainedEngines(visit, engines);
      options.onTurn?.(turn, visit);
      const models = turn.model === undefined ? [engine.id] : [turn.model, ...(turn.fallbacks ?? [])];
      visit.set(askedModels, models);
      log.debug({ engine: engine.id, model: turn.model ?? null, session: route.sessionKey, history }, "turn");
      const isOver = inbound.request !== undefined && options.areAway?.(models) === true ? asking(visit) : undefined;
      const observe = options.offered.refused.observer();
      return running.run(
        {
          plugin: pluginOf(retained, engine.id),
          sessionKey: route.sessionKey,
          place: placeOf(route),
          event: inbound.id,
          limit,
          skipped,
          previewReasoning,
          reported: meter.reported,
          observe(event) {
            isOver?.();
            observe(event);
          },
          answered: (model) => options.onAnswer?.(model ?? models[0] ?? engine.id),
          begin: (stop) => engine.run(turn, stop),
          failure: (thrown) => engineFailure(retained, engine.id, thrown),
          onClock: (clock) => addHold(visit, clock),
          onEnd: isOver,
        },
        signal,
      );
    },
    guard({ plugin, stream, inbound, route }, signal) {
      const { agentId, sessionKey } = route;
      const meter = options.spending.meter(askerOf(inbound, route));
      const place = placeOf(route);
      const config = options.config();
      const limit = timeLimitOf(inbound, agentSettings(config, knownAgentId(config, agentId)), config);
      const failure = (thrown: unknown) =>
        thrown instanceof HostError ? thrown : pluginFault({ plugin, doing: "turn" }, thrown);
      return running.run(
        {
          plugin,
          sessionKey,
          place,
          event: inbound.id,
          limit,
          skipped: [],
          previewReasoning: false,
          reported: meter.reported,
          begin: () => stream,
          failure,
        },
        signal,
      );
    },
    stop(route, stop) {
      const place = placeOf(route);
      return place === undefined ? 0 : stopAt(place, stop);
    },
    stopAt,
    stopEvents(events) {
      running.stopEvents(events, stoppedTurn);
      preparing.stopEvents(events);
    },
    running: () => [
      ...preparing.all(),
      ...running.all().map(({ sessionKey, startedAt }) => ({ sessionKey, doing: "answering" as const, startedAt })),
    ],
    async tools(inbound, route) {
      const agent = agentSettings(options.config(), knownAgentId(options.config(), route.agentId));
      return await gatherTools(options, { agent, inbound, route, visit: new Visit(), place: options.place?.(inbound) });
    },
    prepare: () => prepareEngines(engines, { config: options.config(), log }),
  };
}
