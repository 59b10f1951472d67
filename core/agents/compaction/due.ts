/** When the older part of a conversation is due for a summary. */
import type { Conversation } from "../../state/index.ts";
import type { ConversationStanding } from "./context-standing.ts";

export const usualCompaction = { at: 0.75, keepTurns: 10 } as const;

/** A limit of turns below this is meant: what it leaves out is not summarized. */
const shortMemory = 2;

export const turnsIn = (messages: Conversation["messages"]): number =>
  messages.filter(({ role }) => role === "user").length;

/** Whether the turns that a model reads at most are nearly used up: later ones would push out earlier ones. */
export function isLong(
  readTurns: number,
  { userTurns, settings }: Pick<ConversationStanding, "userTurns" | "settings">,
): boolean {
  const { at = usualCompaction.at, keepTurns = usualCompaction.keepTurns } = settings;
  return readTurns >= userTurns * at && userTurns > keepTurns * shortMemory;
}

/** Whether the older part of a conversation is due for a summary. */
export function isDue({
  tokens,
  room,
  readTurns,
  ...limits
}: Pick<ConversationStanding, "tokens" | "room" | "userTurns" | "settings"> & { readonly readTurns: number }): boolean {
  const { enabled = true, at = usualCompaction.at } = limits.settings;
  return enabled && (isLong(readTurns, limits) || (room !== undefined && tokens >= room.tokens * at));
}
