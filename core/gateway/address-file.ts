/** `gateway.json` in the state directory: where the command line finds the running gateway, and the configuration that it means. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "../state/index.ts";
import type { Undo } from "./undo.ts";

export function writeAddress(
  stateDirectory: string,
  content: { readonly url: string; readonly pid: number; readonly startedAt: number; readonly configFile: string },
  undo: Undo,
): void {
  const file = join(stateDirectory, "gateway.json");
  const text = `${JSON.stringify(content)}\n`;
  writeWhole(file, text);
  undo.add(() => {
    // After the loss of the state it is another gateway's, or gone.
    if (readText(file) === text) rmSync(file, { force: true });
  });
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
