/** The last lines that a program wrote. */

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
        if (text.trim() === "") continue;
        const short = text.slice(0, mostCharacters);
        kept.push(short);
        if (kept.length > mostLines) kept.shift();
        line(short);
      }
    },
    lines: () => (begun.trim() === "" ? kept : [...kept, begun]),
  };
}
