/** Everything that one turn needs, read once: a turn ends under the configuration that it began with. */
import type { AgentSettings, AgentsView } from "../../config/index.ts";
import type { Inbound, Route, SkippedModel, Thinking } from "../../contract/index.ts";
import { reasoningMode } from "../../reply/index.ts";
import type { EngineDefinition, EngineTool, EngineTurn, ModelRoom, PluginLog } from "../../sdk/contract.ts";
import type { SessionMessage, SessionRecord, Store } from "../../state/index.ts";
import type { Visit } from "../../stations/index.ts";
import { conversationMessages } from "../context/conversation-messages.ts";
import { noteSummary, type SummaryNotes } from "../context/summary-notes.ts";
import { createTurnRoom, type TurnFill, turnFill } from "../context/turn-fill.ts";
import { steadyHistory } from "../conversation/history-window.ts";
import { askedMessage } from "../conversation/transcript.ts";
import { askerOf } from "../spending/asker.ts";
import type { EngineSpending, Meter } from "../spending/meter.ts";
import type { Spending } from "../spending/spending.ts";
import type { TurnCalls } from "../tools/turn-calls.ts";
import { gatherTools, type TurnTools } from "../tools/turn-tools.ts";
import { type FixedTextsOptions, turnInstructions } from "./fixed-texts.ts";
import { stoppedTurn } from "./preparing-turns.ts";
import { cameBeforeStop } from "./stops.ts";
import { createTurnChoice, roomsOf, type TurnChoice, type TurnChoiceOptions } from "./turn-choice.ts";

export interface TurnInputOptions extends FixedTextsOptions, TurnChoiceOptions {
  readonly store: Pick<Store, "session" | "conversation" | "get">;
  readonly summaryNotes: SummaryNotes;
  readonly spending: Spending;
  /** What the model reads before the current message: what happened since its last turn. */
  readonly context?: (
    inbound: Inbound,
    route: Route,
    visit: Visit,
    limit: { readonly maxCharacters: number },
  ) => Promise<string>;
  readonly log: Pick<PluginLog, "warn" | "debug">;
  readonly now: () => number;
}

/** A turn that may begin. */
export interface TurnInput {
  readonly choice: TurnChoice;
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

/** Share of the context for what happened since the last turn. */
const contextShare = 1 / 8;
const charactersPerToken = 3;

const contextCharacters = (room: ModelRoom | undefined): number =>
  room === undefined ? Number.POSITIVE_INFINITY : Math.floor(room.tokens * contextShare * charactersPerToken);

const turnsIn = (messages: readonly SessionMessage[]): number => messages.filter(({ role }) => role === "user").length;

const noConversation = { summary: null, summaries: 0, messages: [] } as const;

/** An engine that uses only the current message calls no tools either. */
const noTools: TurnTools = { skills: [], notes: [], context: [], tools: () => [], list: async () => [] };

const defaultTimeoutSeconds = 600;

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

  const choose = createTurnChoice(options);

  return async (inbound, route, visit) => {
    const choice = await choose(inbound, route, visit);
    const { config, agent, session, generation, engine, models, skipped, providers, userTurns } = choice;
    if (await cameBeforeStop(store, inbound, { route, now: now() })) throw stoppedTurn();
    const asker = askerOf(inbound, { ...route, agentId: agent.id });
    await options.spending.admit(asker);
    const meter = options.spending.meter(asker);
    const rooms = await roomsOf(choice, options.rooms);
    const { model } = models;
    const room = model === undefined ? undefined : rooms[model];
    const conversation =
      userTurns === 0 ? noConversation : await store.conversation(route.sessionKey, { userTurns, generation });
    const fill: TurnFill | undefined =
      model === undefined || room === undefined
        ? undefined
        : {
            ...{ model, room, leftOut: 0, inbound, route, asker, userTurns },
            readTurns: turnsIn(conversation.messages),
          };
    if (fill !== undefined && userTurns > 0) visit.set(turnFill, fill);
    const transcript = steadyHistory(conversation.messages, userTurns);
    if (conversation.summary !== null)
      await noteSummary(conversation, { inbound, route, visit, generation, notes: options.summaryNotes });
    // An engine that uses only the current message gets nothing else.
    const context =
      route.isolated || engine.stateless === true
        ? ""
        : await options.context?.(inbound, route, visit, { maxCharacters: contextCharacters(room) });
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
        messages ??= [
          ...conversationMessages({ ...conversation, messages: transcript }, inbound.id, room),
          askedMessage(inbound, joined(earlier, context)),
        ];
        return messages;
      },
      get instructions() {
        instructions ??= turnInstructions(options, { agent, inbound, route, gathered, place });
        return instructions;
      },
      get tools() {
        tools ??= gathered.tools();
        return tools;
      },
      providers: providers.usable,
      ...(fill !== undefined && {
        room: createTurnRoom(rooms, { ...{ fill, visit, log }, rooms: options.rooms, providers: providers.usable }),
      }),
      spending: calls === undefined ? meter.spending : withRequests(meter.spending, calls),
    };
    const limit = timeLimitOf(inbound, agent, config);
    return {
      choice,
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
