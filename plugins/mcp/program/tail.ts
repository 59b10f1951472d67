/** The last lines that a program wrote. */

import { plain } from "../fault.ts";

const mostLines = 20;
const mostCharacters = 500;
/** Kept of a line until it ends, so that a secret at the cut is whole when it is hidden. */
const mostKept = 8 * 1_024;

export interface Tail {
  /** Calls `line` for each complete line. */
  write(chunk: string): void;
  lines(): readonly string[];
}

/** `hide` removes secrets. */
export function createTail(line: (text: string) => void, hide: (text: string) => string): Tail {
  let begun = "";
  const kept: string[] = [];
  const shown = (text: string) => plain(hide(text)).slice(0, mostCharacters);
  return {
    write(chunk) {
      const lines = chunk.split(/\r?\n/);
      for (const [index, piece] of lines.entries()) {
        // The beginning says what went wrong. A program that never ends its line must not fill the memory.
        if (begun.length < mostKept) begun += piece.slice(0, mostKept - begun.length);
        if (index === lines.length - 1) return;
        const short = shown(begun);
        begun = "";
        if (short === "") continue;
        kept.push(short);
        if (kept.length > mostLines) kept.shift();
        line(short);
      }
    },
    lines: () => [...kept, shown(begun)].filter((text) => text !== ""),
  };
}
