/**
 * `gateway.json` in the state directory: gives the command line the address and the configuration file of the running
 * gateway.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "../state/index.ts";

export function writeAddress(
  stateDirectory: string,
  content: { readonly url: string; readonly pid: number; readonly startedAt: number; readonly configFile: string },
  cleanup: AsyncDisposableStack,
): void {
  const file = join(stateDirectory, "gateway.json");
  const text = `${JSON.stringify(content)}\n`;
  writeWhole(file, text);
  cleanup.defer(() => {
    // After the state is lost, the file is gone or belongs to another gateway.
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
