/** Splits what a server or a program writes into lines, in time proportional to its length. */

/**
 * Returns a function that takes a text piece by piece and calls `onLine` for each complete line, without its line feed
 * (a carriage return before it stays). Work is proportional to the text, however small the pieces are. A line of more
 * than `maxChars` (UTF-16 units) calls `onTooLong` once; nothing more is read then.
 *
 * @example
 * socket.on("data", createLineReader((line) => handle(line), { maxChars: 16_384, onTooLong: () => socket.destroy() }));
 */
export function createLineReader(
  onLine: (line: string) => void,
  { maxChars, onTooLong }: { readonly maxChars: number; readonly onTooLong: () => void },
): (piece: string) => void {
  // Appending is cheap as long as the whole is not searched.
  let begun = "";
  let stopped = false;
  return (piece) => {
    let from = 0;
    while (!stopped) {
      const end = piece.indexOf("\n", from);
      const rest = end < 0 ? piece.slice(from) : piece.slice(from, end);
      if (begun.length + rest.length > maxChars) {
        stopped = true;
        begun = "";
        onTooLong();
        return;
      }
      begun += rest;
      if (end < 0) return;
      const line = begun;
      begun = "";
      from = end + 1;
      onLine(line);
    }
  };
}
