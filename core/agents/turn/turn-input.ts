/** Everything that one turn needs, read once: a turn ends under the configuration that it began with. */
import type { PlaceSettings } from "../../access/index.ts";
import { type AgentSettings, type AgentsView, agentSettings, knownAgentId, resolveModel } from "../../config/index.ts";
import type { Inbound, Route, SkippedModel, Thinking } from "../../contract/index.ts";
import { reasoningMode } from "../../reply/index.ts";
import type { ChannelCapabilities, EngineDefinition, EngineTool, EngineTurn, PluginLog } from "../../sdk/contract.ts";
import type { SessionRecord, Store } from "../../state/index.ts";
import type { Visit } from "../../stations/index.ts";
import { steadyHistory } from "../conversation/history-window.ts";
import { askedMessage, readTranscript } from "../conversation/transcript.ts";
import { askerOf } from "../spending/asker.ts";
import type { EngineSpending, Meter } from "../spending/meter.ts";
import type { Spending } from "../spending/spending.ts";
import type { TurnCalls } from "../tools/turn-calls.ts";
import { gatherTools, type TurnTools, type TurnToolsOptions } from "../tools/turn-tools.ts";
import { chooseEngine, type Engines, retainedEngines } from "./engines.ts";
import { chooseModels, modelsOf } from "./models.ts";
import { stoppedTurn } from "./preparing-turns.ts";
import { type ActingHint, renderInstructions } from "./prompt.ts";
import { type ResolveProviders, usableModels } from "./providers.ts";
import { cameBeforeStop } from "./stops.ts";

export interface TurnInputOptions extends TurnToolsOptions {
  readonly config: () => AgentsView;
  readonly store: Pick<Store, "session" | "transcript" | "get">;
  readonly engines: Engines;
  readonly providers: ResolveProviders;
  /** What of the tools the instructions tell; `undefined`: there are none. */
  readonly acting?: (inbound: Inbound, route: Route) => ActingHint | undefined;
  readonly spending: Spending;
  /** What a channel can do, for the instructions. */
  readonly capabilities?: (channel: string) => ChannelCapabilities | undefined;
  /** What the model reads before the current message: what happened since its last turn. */
  readonly context?: (inbound: Inbound, route: Route, visit: Visit) => Promise<string>;
  /** What the configuration says about the place of a message. */
  readonly place?: (inbound: Inbound) => Pick<PlaceSettings, "skills" | "systemPrompt"> | undefined;
  /** How many user turns of the transcript the model is sent; absent: all. */
  readonly historyLimit?: (inbound: Inbound, route: Route) => number | undefined;
  readonly log: Pick<PluginLog, "warn">;
  readonly now: () => number;
}

/** A turn that may begin. */
export interface TurnInput {
  readonly engine: EngineDefinition;
  readonly turn: EngineTurn;
  readonly limit: TimeLimit;
  readonly meter: Meter;
  /** The models that were chosen and cannot be used. */
  readonly skipped: readonly SkippedModel[];
  /** Messages of the transcript. */
  readonly history: number;
  readonly previewReasoning: boolean;
}

/** An engine that uses only the current message calls no tools either. */
const noTools: TurnTools = { skills: [], notes: [], context: [], tools: () => [], list: async () => [] };

const defaultTimeoutSeconds = 600;
/** Bounds the prompt where no history limit is configured. */
const defaultHistoryTurns = 100;

function setting<T extends string>(session: SessionRecord | null, key: string): T | undefined {
  const value = session?.settings[key];
  return typeof value === "string" ? (value as T) : undefined;
}

/** How long a turn may take, and the setting that says so. */
export interface TimeLimit {
  readonly seconds: number;
  readonly setting: string;
}

export function timeLimitOf(
  { request }: Inbound,
  { id, timeoutSeconds }: AgentSettings,
  { agents }: AgentsView,
): TimeLimit {
  if (request?.timeoutSeconds !== undefined)
    return { seconds: request.timeoutSeconds, setting: "timeoutSeconds of the webhook's request or mapping" };
  const index = agents?.list?.findIndex((agent) => agent.id === id && agent.timeoutSeconds !== undefined) ?? -1;
  const owner = index === -1 ? "agents.defaults" : `agents.list[${index}]`;
  return { seconds: timeoutSeconds ?? defaultTimeoutSeconds, setting: `${owner}.timeoutSeconds` };
}

function speaks({ models }: AgentsView): boolean {
  const out = models?.speech?.out;
  return out !== undefined && out.when !== "never";
}

const joined = (...blocks: readonly (string | undefined)[]): string => blocks.filter((block) => block).join("\n");

/** What a model was answered, it has read once it is asked again. */
const withRequests = ({ begin, end }: EngineSpending, calls: Pick<TurnCalls, "modelAsked">): EngineSpending => ({
  begin(call) {
    calls.modelAsked();
    return begin(call);
  },
  end,
});

export function createTurnInput(
  options: TurnInputOptions,
): (inbound: Inbound, route: Route, visit: Visit) => Promise<TurnInput> {
  const { store, log, now } = options;

  /**
   * A session's own choice, unless the list of allowed models no longer has it: then the default answers, not an error
   * forever.
   */
  function sessionModel(agent: AgentSettings, session: SessionRecord | null): string | undefined {
    const chosen = setting(session, "model");
    if (chosen === undefined || resolveModel(chosen, agent.models) !== undefined) return chosen;
    log.warn({ session: session?.key, model: chosen }, "the session's model is no longer allowed; the default is used");
    return undefined;
  }

  return async (inbound, route, visit) => {
    const config = options.config();
    const agent = agentSettings(config, knownAgentId(config, route.agentId));
    const session = await store.session(route.sessionKey);
    if (await cameBeforeStop(store, inbound, { route, now: now() })) throw stoppedTurn();
    const asker = askerOf(inbound, { ...route, agentId: agent.id });
    await options.spending.admit(asker);
    const meter = options.spending.meter(asker);
    const chosen = chooseModels(agent, inbound.request?.model ?? sessionModel(agent, session));
    const engine = chooseEngine(retainedEngines(visit, options.engines), agent, chosen.model);
    const providers = options.providers(modelsOf(chosen));
    const { models, skipped } =
      engine.needsModel === true ? usableModels(chosen, providers) : { models: chosen, skipped: [] };
    const userTurns = options.historyLimit?.(inbound, route) ?? agent.historyTurns ?? defaultHistoryTurns;
    const alone = route.isolated || engine.stateless === true || userTurns === 0;
    const generation = session?.generation ?? 0;
    const transcript = alone
      ? []
      : steadyHistory(await store.transcript(route.sessionKey, { userTurns, generation }), userTurns);
    // An engine that uses only the current message gets nothing else.
    const context = route.isolated || engine.stateless === true ? "" : await options.context?.(inbound, route, visit);
    const place = options.place?.(inbound);
    const calls = engine.stateless === true ? undefined : options.offered.callsOf(inbound.id, visit);
    const earlier = (await calls?.notice()) ?? "";
    const gathered =
      engine.stateless === true ? noTools : await gatherTools(options, { agent, inbound, route, visit, place });
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
      // The following is created when an engine asks for it: one that uses only the current message never does.
      get messages() {
        messages ??= [...readTranscript(transcript, inbound.id), askedMessage(inbound, joined(earlier, context))];
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
          speaks: speaks(options.config()),
          skills: gathered.skills,
          notes: [...gathered.notes, ...gathered.context],
        });
        return instructions;
      },
      get tools() {
        tools ??= gathered.tools();
        return tools;
      },
      providers: providers.usable,
      spending: calls === undefined ? meter.spending : withRequests(meter.spending, calls),
    };
    const limit = timeLimitOf(inbound, agent, config);
    return {
      engine,
      turn,
      limit,
      meter,
      skipped,
      history: transcript.length,
      previewReasoning: reasoningMode(session) === "stream",
    };
  };
}
