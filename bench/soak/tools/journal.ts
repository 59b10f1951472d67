/** What the writing tools of the soak did, one line each: the only truth about how often a tool ran. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

export interface Run {
  readonly tool: string;
  readonly word: string;
  readonly at: number;
}

/** Written before the tool does anything else. */
export function journalRun(file: string, tool: string, word: string): void {
  appendFileSync(file, `${tool} ${word} ${Date.now()}\n`);
}

export function runsIn(file: string): readonly Run[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => line.split(" ")).map(([tool = "", word = "", at]) => ({ tool, word, at: Number(at) }));
}

/** The same for the same word, so that a turn that runs again takes as long. */
export function drawn(word: string, what: string, most: number): number {
  let hash = 2_166_136_261;
  for (const character of `${what} ${word}`) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619) >>> 0;
  return hash % most;
}

const mostToolMs = 500;

export const toolMs = (tool: string, word: string): number => drawn(word, tool, mostToolMs);
