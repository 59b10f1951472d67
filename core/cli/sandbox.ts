/** A sandbox for one command, as a gateway would have it, with copies of the transforms in a directory of its own. */
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoadedConfig } from "../config/load.ts";
import { product } from "../product.ts";
import type { PluginLog } from "../sdk.ts";
import { resolveTransformsRoot } from "../transforms/root.ts";
import { createTransforms, type Transforms } from "../transforms/sandbox.ts";
import { visible } from "../visible.ts";
import type { CommandContext } from "./context.ts";
import type { Terminal } from "./terminal.ts";

export function openSandbox({ terminal, now }: CommandContext, { config, directory }: LoadedConfig): Transforms {
  const { hooks } = config;
  const cacheDirectory = mkdtempSync(join(tmpdir(), `${product.command}-transforms-`));
  const transforms = createTransforms({
    root: () => resolveTransformsRoot({ configDirectory: directory, transformsDir: hooks.transformsDir }),
    settings: () => hooks.transforms,
    log: linesFor(terminal),
    now,
    cacheDirectory,
  });
  return {
    ...transforms,
    async close() {
      await transforms.close();
      await rm(cacheDirectory, { recursive: true, force: true });
    },
  };
}

/** What a transform prints goes where it spoils no data. */
function linesFor(terminal: Terminal): Pick<PluginLog, "debug" | "info" | "warn" | "error"> {
  const line = (fields: object | string, message?: string) => terminal.note(visible(typeof fields === "string" ? fields : (message ?? "")));
  return { debug: line, info: line, warn: line, error: line };
}
