/** Splits a stream of text into lines, in a time that grows with its length only, however small the pieces are. */

export interface Lines {
  write(chunk: string): void;
}

export function createLines({
  most,
  onLine,
  onTooLong,
}: {
  /** Longest line, in characters. */
  readonly most: number;
  readonly onLine: (line: string) => void;
  /** Called once; nothing is read after that. */
  readonly onTooLong: () => void;
}): Lines {
  let begun: string[] = [];
  let length = 0;
  let isOver = false;
  return {
    write(chunk) {
      let from = 0;
      while (!isOver) {
        const end = chunk.indexOf("\n", from);
        const piece = chunk.slice(from, end === -1 ? chunk.length : end);
        length += piece.length;
        if (length > most) {
          isOver = true;
          begun = [];
          onTooLong();
          return;
        }
        begun.push(piece);
        if (end === -1) return;
        const line = begun.join("");
        begun = [];
        length = 0;
        from = end + 1;
        onLine(line);
      }
    },
  };
}
