/** The target of an export: standard output, or a new file that only its owner can read. */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { HostError, reasonOf } from "../../contract/errors.ts";
import { visibleJson } from "../../log/visible.ts";
import type { Terminal } from "./terminal.ts";

export function writeOut(
  value: unknown,
  { out, terminal }: { readonly out: string | undefined; readonly terminal: Terminal },
): void {
  if (out === undefined) {
    terminal.json(value);
    return;
  }
  const file = resolve(out);
  try {
    writeFileSync(file, `${visibleJson(value, 2)}\n`, { flag: "wx", mode: 0o600 });
  } catch (thrown) {
    const exists = (thrown as NodeJS.ErrnoException).code === "EEXIST";
    throw new HostError(
      "out_unwritable",
      { file, reason: exists ? "it exists already" : reasonOf(thrown) },
      { cause: thrown },
    );
  }
}
