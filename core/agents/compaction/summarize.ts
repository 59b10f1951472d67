/** Writes the summary of the older part of one conversation, and stores it. */
import { HostError, type Inbound, type Route } from "../../contract/index.ts";
import { likelyTokens, measureText, type PluginLog } from "../../sdk/contract.ts";
import type { Conversation, Store } from "../../state/index.ts";
import type { ModelRooms } from "../context/model-rooms.ts";
import type { Asker } from "../spending/asker.ts";
import type { Spending } from "../spending/spending.ts";
import type { ContextStandings, ConversationStanding } from "./context-standing.ts";
import { isDue, isLong, turnsIn, usualCompaction } from "./due.ts";
import { type Plan, planSummary } from "./plan.ts";
import { piecesOf, pieceText, summaryInstructions, summaryTokens } from "./summary-request.ts";

/** Longest time for one piece. No reader waits for it, and a model on this machine may need minutes. */
const pieceMs = 5 * 60_000;

export interface CompactionRequest {
  readonly inbound: Inbound;
  readonly route: Route;
  readonly asker: Asker;
}

export interface Compacted {
  readonly messages: number;
  readonly before: number;
  readonly after: number;
  readonly room: number;
}

export interface SummarizeOptions {
  readonly standings: ContextStandings;
  readonly rooms: ModelRooms;
  readonly store: Pick<Store, "conversation" | "addSummary">;
  readonly spending: Pick<Spending, "meter">;
  readonly log: Pick<PluginLog, "info">;
  readonly now: () => number;
}

interface How {
  /** What a person wants to keep in particular. */
  readonly focus: string;
  /** A person has asked for it. */
  readonly isAsked: boolean;
  readonly signal: AbortSignal;
}

/** Whether the conversation is the one that was read, as far as it is to be covered. */
function isUnchanged(before: Conversation, after: Conversation, { covered }: Plan): boolean {
  return (
    before.summary?.id === after.summary?.id &&
    covered.every((message) => {
      const found = after.messages.find(({ id }) => id === message.id);
      return JSON.stringify(found?.content) === JSON.stringify(message.content);
    })
  );
}

const unable = { engine: "that writes summaries", known: "none" } as const;

/** The summary of a plan, folded piece by piece. */
async function writeSummary(
  { engine, models, rooms, providers, conversation }: ConversationStanding,
  plan: Plan,
  { asker, focus, signal }: Pick<How, "focus" | "signal"> & { readonly asker: Asker },
  options: Pick<SummarizeOptions, "rooms" | "spending">,
): Promise<{ readonly text: string; readonly model: string }> {
  const { model } = models;
  const room = model === undefined ? undefined : rooms[model];
  if (engine.complete === undefined || room === undefined) throw new HostError("engine_unknown", unable);
  const { spending } = options.spending.meter({ ...asker, purpose: "compaction" });
  const by = {
    ...{ ...models, providers, spending },
    room: {
      models: rooms,
      counted: async ({
        inputTokens,
        ...request
      }: {
        model: string;
        sizes: readonly number[];
        inputTokens?: number;
      }) => (inputTokens === undefined ? undefined : options.rooms.counted({ ...request, inputTokens }, providers)),
      refused: (request: { model: string; sizes: readonly number[]; named?: number }) =>
        options.rooms.refused(request, providers),
    },
  };
  const instructions = summaryInstructions(room, focus);
  const maxTokens = summaryTokens(room);
  let summary = { text: conversation.summary?.text ?? "", model: model ?? "" };
  for (const piece of piecesOf(plan.covered, room)) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(pieceMs)]);
    const text = pieceText(piece, summary.text);
    summary = await engine.complete({ instructions, text, maxTokens }, by, limit);
    limit.throwIfAborted();
  }
  return summary;
}

/** Resolves with `undefined` if a summary would gain too little, or the conversation has changed meanwhile. */
export async function summarize(
  request: CompactionRequest,
  how: How,
  options: SummarizeOptions,
): Promise<Compacted | undefined> {
  const { standings, store, log, now } = options;
  const { inbound, route } = request;
  const standing = await standings.of(inbound, route, { forSummary: true });
  const { room, fixedTokens, conversation, generation, userTurns, settings } = standing;
  if (room === undefined || standing.engine.complete === undefined) return undefined;
  const { keepTurns = usualCompaction.keepTurns } = settings;
  const { isAsked } = how;
  // A turn that ran beside an earlier summary has not read it.
  const readTurns = turnsIn(conversation.messages);
  if (!isAsked && !isDue({ ...standing, readTurns })) return undefined;
  const plan = planSummary(conversation.messages, {
    ...{ room, fixedTokens, keepTurns, userTurns, isAsked },
    isLong: isLong(readTurns, standing),
  });
  const until = plan?.covered.at(-1);
  if (plan === undefined || until === undefined) return undefined;
  const { text, model } = await writeSummary(standing, plan, { ...how, asker: request.asker }, options);
  const { sessionKey } = route;
  // A person may have been erased meanwhile, and the summary contains their words.
  const after = await store.conversation(sessionKey, { generation });
  const messages = (conversation.summary?.messages ?? 0) + plan.covered.length;
  const added =
    isUnchanged(conversation, after, plan) &&
    (await store.addSummary(sessionKey, {
      ...{ generation, after: conversation.summary?.id ?? null, until: until.id },
      ...{ messages, text, model, at: now() },
    }));
  if (!added) return undefined;
  const before = fixedTokens + plan.coveredTokens + plan.retainedTokens;
  const own = conversation.summary === null ? 0 : likelyTokens(room, measureText(conversation.summary.text));
  const left = fixedTokens - own + plan.retainedTokens + likelyTokens(room, measureText(text));
  log.info(
    { session: sessionKey, messages: plan.covered.length, model, tokens: before, left, room: room.tokens },
    "the older part of a conversation is summarized",
  );
  return { messages: plan.covered.length, before, after: left, room: room.tokens };
}
