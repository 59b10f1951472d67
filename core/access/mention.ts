/** Matches the configured mention patterns with a linear-time engine, so that no pattern can stall the process. */

import type { GatewayConfig } from "../config/index.ts";
import { type LinearPattern, linearPatterns } from "../config/linear-pattern.ts";

/**
 * Upper bound on pattern size times text length. The engine never backtracks, but each character costs time in
 * proportion to the pattern. This limit corresponds to some tens of milliseconds at most.
 */
const maxWork = 1_000_000;
/** Even the largest pattern scans a whole message of ordinary length. */
const alwaysScannedChars = 4_096;
const maxPatternSize = 1_000;

export interface MentionMatcher {
  matches(text: string): boolean;
  /** Patterns that do not parse, with the reason. */
  readonly invalid: readonly { readonly pattern: string; readonly reason: string }[];
}

export function createMentionMatcher(patterns: readonly string[]): MentionMatcher {
  const compiled: { readonly search: LinearPattern; readonly maxChars: number }[] = [];
  const invalid: { pattern: string; reason: string }[] = [];
  for (const pattern of patterns) {
    try {
      const engine = linearPatterns();
      const search = engine.compile(pattern, engine.CASE_INSENSITIVE);
      const size = search.programSize();
      if (size > maxPatternSize)
        invalid.push({ pattern, reason: `it is too large: ${size} steps, at most ${maxPatternSize}` });
      else compiled.push({ search, maxChars: Math.max(alwaysScannedChars, Math.floor(maxWork / size)) });
    } catch (error) {
      invalid.push({ pattern, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return {
    invalid,
    // test() instead of matcher().find(): it needs no match positions and is about ten times as fast.
    matches: (text) => compiled.some(({ search, maxChars }) => search.test(text.slice(0, maxChars))),
  };
}

/** The mention patterns of an agent (its own, else the global ones, else its name) and their configuration path. */
export function mentionPatterns(
  { agents, messages }: Pick<GatewayConfig, "agents" | "messages">,
  agentId: string,
): { readonly patterns: readonly string[]; readonly path: string } {
  const index = agents.list.findIndex(({ id }) => id === agentId);
  const agent = agents.list[index];
  const own = agent?.groupChat?.mentionPatterns;
  if (own !== undefined) return { patterns: own, path: `agents.list[${index}].groupChat.mentionPatterns` };
  const name = agent?.identity?.name ?? agent?.name;
  const patterns = messages.groupChat.mentionPatterns ?? (name === undefined ? [] : [patternFromName(name)]);
  return { patterns, path: "messages.groupChat.mentionPatterns" };
}

/** The default pattern if none is configured: the agent's name as a whole word. */
export function patternFromName(name: string): string {
  const words = name
    .trim()
    .split(/\s+/)
    .map((word) => linearPatterns().quote(word));
  return `(^|[^\\pL\\pN_])@?${words.join("\\s+")}($|[^\\pL\\pN_])`;
}
