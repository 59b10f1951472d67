/** How full the context of a conversation is: for `/status`, `/compact`, and before a summary. */
import { agentSettings, type CompactionSettings, knownAgentId, resolveModel } from "../../config/index.ts";
import type { Inbound, Route } from "../../contract/index.ts";
import {
  addSizes,
  type EngineDefinition,
  type EngineProvider,
  knownTokens,
  likelyTokens,
  type ModelRoom,
  measureText,
  type TextSizes,
} from "../../sdk/contract.ts";
import type { Conversation, Store } from "../../state/index.ts";
import { Visit } from "../../stations/index.ts";
import { conversationMessages } from "../context/conversation-messages.ts";
import type { ModelRooms } from "../context/model-rooms.ts";
import { steadyHistory } from "../conversation/history-window.ts";
import { type Models, modelsOf } from "../turn/models.ts";
import { createTurnChoice, roomsOf, type TurnChoice, type TurnChoiceOptions } from "../turn/turn-choice.ts";

export interface ConversationStanding {
  readonly settings: CompactionSettings;
  readonly engine: EngineDefinition;
  /** Those that answer; with `forSummary`, those that summarize. */
  readonly models: Models;
  /** The room that the conversation is kept within: that of the model that answers; `undefined` without a model. */
  readonly room: ModelRoom | undefined;
  /** Of `models`. */
  readonly rooms: Readonly<Record<string, ModelRoom>>;
  readonly providers: Readonly<Record<string, EngineProvider>>;
  readonly conversation: Conversation;
  readonly generation: number;
  readonly userTurns: number;
  /** Tokens of the instructions, the tools and the summary. */
  readonly fixedTokens: number;
  /** With those of the messages. */
  readonly tokens: number;
}

export interface ContextStandings {
  settings(route: Pick<Route, "agentId">): CompactionSettings;
  of(inbound: Inbound, route: Route, options?: { readonly forSummary?: boolean }): Promise<ConversationStanding>;
}

export interface ContextStandingOptions extends TurnChoiceOptions {
  readonly store: Pick<Store, "session" | "conversation">;
  readonly rooms: ModelRooms;
  /** The instructions and the declarations of tools of a turn. */
  readonly fixedTexts: (choice: TurnChoice, inbound: Inbound, route: Route) => Promise<readonly string[]>;
}

const perMessage = 5;

export function createContextStandings(options: ContextStandingOptions): ContextStandings {
  const { config, store, rooms } = options;
  const choose = createTurnChoice(options);

  /** The models that summarize. */
  function summarizing(choice: TurnChoice): Models {
    const { agent, models } = choice;
    const set = agent.compaction?.model;
    const own = set === undefined ? undefined : (resolveModel(set, agent.models) ?? resolveModel(set, undefined));
    return own === undefined ? models : { model: own, fallbacks: modelsOf(models).filter((name) => name !== own) };
  }

  return {
    settings: ({ agentId }) => agentSettings(config(), knownAgentId(config(), agentId)).compaction ?? {},
    async of(inbound, route, { forSummary = false } = {}) {
      const choice = await choose(inbound, route, new Visit());
      const { agent, engine, generation, userTurns, providers } = choice;
      const own = await roomsOf(choice, rooms);
      const models = forSummary ? summarizing(choice) : choice.models;
      // The model that summarizes may be of a provider that no other model uses.
      const used = forSummary ? options.providers(modelsOf(models)) : providers;
      const known = forSummary ? await roomsOf({ models, providers: used }, rooms) : own;
      const room = choice.models.model === undefined ? undefined : own[choice.models.model];
      // Turns that were added meanwhile must not hide the oldest ones from the summary.
      const more = forSummary ? 2 : 1;
      const conversation = await store.conversation(route.sessionKey, { userTurns: userTurns * more, generation });
      const sent = forSummary
        ? conversation
        : { ...conversation, messages: steadyHistory(conversation.messages, userTurns) };
      const texts = room === undefined ? [] : await options.fixedTexts(choice, inbound, route);
      const read = room === undefined ? [] : conversationMessages(sent, "", room);
      const lasting = read.filter((message) => message.lasting === true).map(({ text }) => text);
      const fixed = [...texts, ...lasting].map(measureText);
      const all = read.filter((message) => message.lasting !== true).map(({ text }) => measureText(text));
      const count = (...sizes: readonly TextSizes[]) =>
        room === undefined ? 0 : likelyTokens(room, addSizes(...sizes));
      return {
        settings: agent.compaction ?? {},
        ...{ engine, models, room, rooms: known, providers: used.usable, conversation, generation, userTurns },
        fixedTokens: count(...fixed),
        tokens: count(...fixed, ...all, knownTokens((read.length + 1) * perMessage)),
      };
    },
  };
}
