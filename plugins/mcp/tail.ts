/** The last lines that a program wrote. */

import { plain } from "./fault.ts";

const mostLines = 20;
const mostCharacters = 500;

export interface Tail {
  /** Calls `line` for each complete line. */
  write(chunk: string): void;
  lines(): readonly string[];
}

export function createTail(line: (text: string) => void): Tail {
  let begun = "";
  const kept: string[] = [];
  return {
    write(chunk) {
      const lines = (begun + chunk).split(/\r?\n/);
      // A program that never ends its line must not fill the memory.
      begun = (lines.pop() ?? "").slice(-mostCharacters);
      for (const text of lines) {
        const short = plain(text.slice(0, mostCharacters));
        if (short === "") continue;
        kept.push(short);
        if (kept.length > mostLines) kept.shift();
        line(short);
      }
    },
    lines: () => [...kept, plain(begun)].filter((text) => text !== ""),
  };
}
