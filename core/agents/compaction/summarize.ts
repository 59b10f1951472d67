/** Writes the summary of the older part of one conversation, and stores it. */
import { HostError, type Inbound, type Route } from "../../contract/index.ts";
import { likelyTokens, measureText, type PluginLog, type TurnRoom } from "../../sdk/contract.ts";
import type { Conversation, PlacedMessage, Store } from "../../state/index.ts";
import type { ModelRooms } from "../context/model-rooms.ts";
import type { Asker } from "../spending/asker.ts";
import type { Spending } from "../spending/spending.ts";
import type { ContextStandings, ConversationStanding } from "./context-standing.ts";
import { isDue, isLong, turnsIn, usualCompaction } from "./due.ts";
import { type Plan, planSummary, tokensOf } from "./plan.ts";
import { boundedSummary, newMark, piecesOf, pieceText, replyTokens, summaryInstructions } from "./summary-request.ts";

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
  /** Why the rest of the older part is not summarized; absent if all of it is, or the next turn goes on. */
  readonly brokenOff?: unknown;
}

/**
 * `nothing`: a summary would gain too little. `changed`: the conversation is no longer the one that was read, such as
 * after an erasure. `elsewhere`: another node summarizes it.
 */
export type Outcome = Compacted | "nothing" | "changed" | "elsewhere";

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
  /** Resolves with `false` if another node has begun to summarize the conversation. */
  readonly mayGoOn: () => Promise<boolean>;
  readonly signal: AbortSignal;
}

/** Whether the conversation is the one that was read, as far as it is to be covered. */
function isUnchanged(before: Conversation, after: Conversation, covered: readonly PlacedMessage[]): boolean {
  const found = new Map(after.messages.map(({ id, content }) => [id, JSON.stringify(content)]));
  return (
    before.summary?.id === after.summary?.id &&
    covered.every(({ id, content }) => found.get(id) === JSON.stringify(content))
  );
}

const unable = { engine: "that writes summaries", known: "none" } as const;

interface Written {
  readonly text: string;
  readonly model: string;
  readonly covered: readonly PlacedMessage[];
  /** What ended it before all was covered. */
  readonly brokenOff?: unknown;
}

/** The summary of a plan, folded piece by piece. What is written when a later piece fails is paid for, and stays. */
async function writeSummary(
  { engine, models, rooms, providers, conversation }: ConversationStanding,
  plan: Plan,
  { asker, focus, signal, mayGoOn }: Pick<How, "focus" | "signal" | "mayGoOn"> & { readonly asker: Asker },
  options: Pick<SummarizeOptions, "rooms" | "spending">,
): Promise<Written> {
  const { model } = models;
  const room = model === undefined ? undefined : rooms[model];
  if (engine.complete === undefined || room === undefined) throw new HostError("engine_unknown", unable);
  const { spending } = options.spending.meter({ ...asker, purpose: "compaction" });
  const by = { ...{ ...models, providers, spending }, room: learningRoom(rooms, providers, options) };
  const mark = newMark();
  const instructions = summaryInstructions(room, mark);
  const maxTokens = replyTokens(room);
  const covered: PlacedMessage[] = [];
  let summary = { text: boundedSummary(conversation.summary?.text ?? "", room), model: model ?? "" };
  for (const piece of piecesOf(plan.covered, room, mark)) {
    try {
      signal.throwIfAborted();
      if (!(await mayGoOn())) return { ...summary, covered: [] };
      const limit = AbortSignal.any([signal, AbortSignal.timeout(pieceMs)]);
      const text = pieceText(piece.text, { mark, soFar: summary.text, focus });
      const written = await engine.complete({ instructions, text, maxTokens }, by, limit);
      limit.throwIfAborted();
      summary = { ...written, text: boundedSummary(written.text, room) };
      covered.push(...piece.messages);
    } catch (brokenOff) {
      if (covered.length === 0) throw brokenOff;
      return { ...summary, covered, brokenOff };
    }
  }
  return { ...summary, covered };
}

/** What servers show about the contexts of models. */
const learningRoom = (
  models: ConversationStanding["rooms"],
  providers: ConversationStanding["providers"],
  { rooms }: Pick<SummarizeOptions, "rooms">,
): TurnRoom => ({
  models,
  counted: async ({ inputTokens, ...request }) =>
    inputTokens === undefined ? undefined : rooms.counted({ ...request, inputTokens }, providers),
  refused: (request) => rooms.refused(request, providers),
});

export async function summarize(request: CompactionRequest, how: How, options: SummarizeOptions): Promise<Outcome> {
  const { standings, store, log, now } = options;
  const { inbound, route } = request;
  const standing = await standings.of(inbound, route, { forSummary: true });
  const { room, fixedTokens, conversation, generation, userTurns, settings } = standing;
  if (room === undefined || standing.engine.complete === undefined) return "nothing";
  const { keepTurns = usualCompaction.keepTurns } = settings;
  const { isAsked } = how;
  // A turn that ran beside an earlier summary has not read it.
  const readTurns = turnsIn(conversation.messages);
  if (!isAsked && !isDue({ ...standing, readTurns })) return "nothing";
  const plan = planSummary(conversation.messages, {
    ...{ room, fixedTokens, keepTurns, userTurns, isAsked },
    isLong: isLong(readTurns, standing),
  });
  if (plan === undefined) return "nothing";
  const written = await writeSummary(standing, plan, { ...how, asker: request.asker }, options);
  const { text, model, covered, brokenOff } = written;
  const until = covered.at(-1);
  if (until === undefined) return "elsewhere";
  const { sessionKey } = route;
  // A person may have been erased meanwhile, and the summary contains their words.
  const after = await store.conversation(sessionKey, { generation });
  const messages = (conversation.summary?.messages ?? 0) + covered.length;
  const added =
    isUnchanged(conversation, after, covered) &&
    (await store.addSummary(sessionKey, {
      ...{ generation, after: conversation.summary?.id ?? null, until: until.id },
      ...{ messages, text, model, at: now() },
    }));
  if (!added) return "changed";
  const before = fixedTokens + plan.coveredTokens + plan.retainedTokens;
  const own = conversation.summary === null ? 0 : likelyTokens(room, measureText(conversation.summary.text));
  const rest = plan.coveredTokens - tokensOf(covered, room) + plan.retainedTokens;
  const left = fixedTokens - own + rest + likelyTokens(room, measureText(text));
  log.info(
    { session: sessionKey, messages: covered.length, model, tokens: before, left, room: room.tokens },
    "the older part of a conversation is summarized",
  );
  return {
    messages: covered.length,
    before,
    after: left,
    room: room.tokens,
    ...(brokenOff !== undefined && { brokenOff }),
  };
}
