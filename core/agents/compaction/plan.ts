/** Decides which messages of a conversation a summary covers. */
import { addSizes, likelyTokens, type ModelRoom, measureText } from "../../sdk/contract.ts";
import type { PlacedMessage } from "../../state/index.ts";
import { shortened } from "../context/conversation-messages.ts";
import { messageText } from "../conversation/transcript.ts";

/** What stays of the context in any case, and what stays at most. */
const retainedShare = { usual: 0.3, most: 0.5 } as const;
/** A summary of less is not worth its price, and would soon be followed by the next one. */
const leastGain = 0.1;

export interface Plan {
  readonly covered: readonly PlacedMessage[];
  /** Tokens of the covered messages, and of those that stay. */
  readonly coveredTokens: number;
  readonly retainedTokens: number;
}

export interface PlanOptions {
  readonly room: ModelRoom;
  /** Tokens of the instructions, the tools and the summary, which take room in each request. */
  readonly fixedTokens: number;
  readonly keepTurns: number;
  /** User turns that a model reads at most. */
  readonly userTurns: number;
  /** These are nearly used up, so any gain is enough. */
  readonly isLong: boolean;
  /** A person has asked for it, so any gain is enough, and only the last turns stay. */
  readonly isAsked: boolean;
}

export const tokensOf = (messages: readonly PlacedMessage[], room: ModelRoom): number =>
  likelyTokens(room, addSizes(...messages.map(({ content }) => measureText(shortened(messageText(content), room)))));

/** Turns of a conversation, oldest first; each begins with a message of the user. */
function turnsOf(messages: readonly PlacedMessage[]): readonly (readonly PlacedMessage[])[] {
  const turns: PlacedMessage[][] = [];
  for (const message of messages) {
    if (message.role === "user" || turns.length === 0) turns.push([]);
    turns.at(-1)?.push(message);
  }
  return turns;
}

/**
 * The last turns stay: those that were asked for, as far as half of the context has room for them, and more while there
 * is plenty. `undefined`: a summary would gain too little.
 */
export function planSummary(
  messages: readonly PlacedMessage[],
  { room, fixedTokens, keepTurns, userTurns, isLong, isAsked }: PlanOptions,
): Plan | undefined {
  const free = Math.max(0, room.tokens - fixedTokens);
  const turns = turnsOf(messages);
  let retainedTurns = 0;
  let retainedTokens = 0;
  for (const turn of turns.toReversed()) {
    const tokens = tokensOf(turn, room);
    const share = retainedTurns < keepTurns ? retainedShare.most : isAsked ? 0 : retainedShare.usual;
    const isTooMuch = retainedTokens + tokens > free * share || retainedTurns >= Math.max(keepTurns, userTurns / 2);
    if (isTooMuch && retainedTurns > 0) break;
    retainedTurns += 1;
    retainedTokens += tokens;
  }
  const covered = turns.slice(0, turns.length - retainedTurns).flat();
  const coveredTokens = tokensOf(covered, room);
  if (covered.length === 0 || (!isAsked && !isLong && coveredTokens < room.tokens * leastGain)) return undefined;
  return { covered, coveredTokens, retainedTokens };
}
