/** The last lines that a program wrote. */

import { plain } from "../fault.ts";

const mostLines = 20;
const mostCharacters = 500;
/** Kept of a line until it ends, so that a secret at the cut is whole when it is hidden. */
const maxLineCharacters = 8 * 1_024;

export interface Tail {
  /** Calls `line` for each complete line. */
  write(chunk: string): void;
  lines(): readonly string[];
}

/** `hide` removes secrets. */
export function createTail(line: (text: string) => void, hide: (text: string) => string): Tail {
  let begun = "";
  const tailLines: string[] = [];
  const shown = (text: string) => plain(hide(text)).slice(0, mostCharacters);
  return {
    write(chunk) {
      const lines = chunk.split(/\r?\n/);
      for (const [index, piece] of lines.entries()) {
        // The beginning says what went wrong. A program that never ends its line must not fill the memory.
        if (begun.length < maxLineCharacters) begun += piece.slice(0, maxLineCharacters - begun.length);
        if (index === lines.length - 1) return;
        const short = shown(begun);
        begun = "";
        if (short === "") continue;
        tailLines.push(short);
        if (tailLines.length > mostLines) tailLines.shift();
        line(short);
      }
    },
    lines: () => [...tailLines, shown(begun)].filter((text) => text !== ""),
  };
}
