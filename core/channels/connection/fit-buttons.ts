/** Fits rows of buttons into the limits of a platform, or says why they do not fit: then the text is sent alone. */
import type { Button } from "../../contract/index.ts";
import type { ChannelCapabilities } from "../../sdk/contract.ts";

type Rows = readonly (readonly Button[])[];

/**
 * Long rows are divided, and long labels cut. If a value is too long or there are too many buttons, none of them fits:
 * a value cannot be cut, and a question must show all of its answers. `problem` says why, to follow the name of a
 * channel.
 */
export function fitButtons(
  rows: Rows,
  limits: ChannelCapabilities["buttons"],
): { readonly rows: Rows } | { readonly problem: string } {
  if (typeof limits !== "object") return { rows };
  const { perRow = Number.POSITIVE_INFINITY, perMessage = Number.POSITIVE_INFINITY, labelChars, valueBytes } = limits;
  const all = rows.flat();
  if (all.length > perMessage) return { problem: `shows at most ${perMessage} buttons, not ${all.length}` };
  const long = all.find(({ value }) => valueBytes !== undefined && Buffer.byteLength(value) > valueBytes);
  if (long !== undefined) return { problem: `takes at most ${valueBytes} bytes as the value of a button` };
  const shown = rows.map((row) => row.map((button) => ({ ...button, text: cutLabel(button.text, labelChars) })));
  return { rows: shown.flatMap((row) => (row.length <= perRow ? [row] : divided(row, perRow))) };
}

function divided(row: readonly Button[], perRow: number): Rows {
  return Array.from({ length: Math.ceil(row.length / perRow) }, (_, index) =>
    row.slice(index * perRow, (index + 1) * perRow),
  );
}

/** Leaves no half of a character that UTF-16 writes in two. */
function cutLabel(text: string, most: number | undefined): string {
  if (most === undefined || text.length <= most) return text;
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}
