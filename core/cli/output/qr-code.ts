/** QR codes in a terminal. */
import { encode } from "uqr";
import type { Terminal } from "./terminal.ts";

/** Readers need a margin around the code; two modules are enough on a screen. */
const border = 2;

/**
 * The lines of a QR code, two rows of it in each. The light parts are drawn, on a dark ground, so that it can be read
 * on terminals with either ground.
 */
export function qrLines(text: string, style: Terminal["style"]): readonly string[] {
  const { data, size } = encode(text, { ecc: "L", border });
  const isLight = (row: number, column: number) => data[row]?.[column] !== true;
  const columns = Array.from({ length: size }, (_, column) => column);
  return Array.from({ length: Math.ceil(size / 2) }, (_, line) => {
    const cells = columns.map((column) => {
      const [above, below] = [isLight(line * 2, column), line * 2 + 1 < size && isLight(line * 2 + 1, column)];
      return above ? (below ? "█" : "▀") : below ? "▄" : " ";
    });
    return style("bgBlack", style("whiteBright", cells.join("")));
  });
}
