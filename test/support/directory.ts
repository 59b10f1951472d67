/** A directory of a test for its files. The directory of the whole run removes what a test leaves. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), "gateway-test-"));
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}
