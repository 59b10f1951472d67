import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { PluginSchemas } from "../../../core/config/plugin-schemas.ts";
import { type LoadedConfig, loadConfig } from "../../../core/config/reading/load.ts";
import { HostError } from "../../../core/contract/errors.ts";

const made: string[] = [];

afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

/** A new directory; gone when the tests of its file are done. */
export function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "config-"));
  made.push(directory);
  return directory;
}

/** A real file in a directory of its own. */
export function writeConfig(content: unknown): string {
  const file = join(temporary(), "config.jsonc");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  return file;
}

/** `schemas`: what plugins declare; without any, the gateway's own keys are all that is known. */
export const load = (
  content: unknown,
  env: Readonly<Record<string, string>> = {},
  schemas: PluginSchemas = {},
): Promise<LoadedConfig> => loadConfig({ file: writeConfig(content), env, schemas });

export const errorsOf = (loaded: LoadedConfig) => loaded.problems.filter((problem) => problem.severity === "error");

/** What was thrown; fails when it is anything but a `HostError`. */
export async function thrownBy(action: () => unknown): Promise<HostError> {
  try {
    await action();
  } catch (thrown) {
    if (thrown instanceof HostError) return thrown;
    throw thrown;
  }
  throw new Error("nothing was thrown");
}
