/**
 * Chooses where the history begins that a model reads. If it began one turn later with every turn, no request would
 * begin like the one before, and neither providers nor local servers could reuse what they have read.
 */
import type { SessionMessage } from "../../state/index.ts";

/** Mixes a text to 32 bits. Equal texts give equal numbers in every process. */
function mixed(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/**
 * Leaves out up to a quarter of the oldest turns. Of those, the history begins with the one whose id has the smallest
 * number: as the window moves on, this stays the same turn for about half of the quarter, and every process chooses the
 * same. `messages` are the last `userTurns` turns; a conversation that has fewer stays whole.
 */
export function steadyHistory<M extends SessionMessage>(messages: readonly M[], userTurns: number): readonly M[] {
  const quarter = Math.floor(userTurns / 4);
  const starts = messages.flatMap(({ role }, index) => (role === "user" ? index : []));
  if (quarter < 2 || starts.length < userTurns) return messages;
  let chosen = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const start of starts.slice(0, quarter)) {
    const { unitId, at } = messages[start] as M;
    const number = mixed(unitId ?? String(at));
    if (number > least) continue;
    chosen = start;
    least = number;
  }
  return messages.slice(chosen);
}
