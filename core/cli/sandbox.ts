/** Creates a sandbox for one command, like the one of a gateway. */
import type { LoadedConfig } from "../config/reading/load.ts";
import { visible } from "../log/visible.ts";
import type { PluginLog } from "../sdk/contract.ts";
import { resolveTransformsRoot } from "../transforms/root.ts";
import { createTransforms, type Transforms } from "../transforms/sandbox.ts";
import type { CommandContext } from "./context.ts";
import type { Terminal } from "./output/terminal.ts";

export function openSandbox({ terminal, now }: CommandContext, { config, directory }: LoadedConfig): Transforms {
  const { hooks } = config;
  return createTransforms({
    root: () => resolveTransformsRoot({ configDirectory: directory, transformsDir: hooks.transformsDir }),
    settings: () => hooks.transforms,
    log: linesFor(terminal),
    now,
  });
}

/** A transform's own output goes to standard error, so that it does not mix with data. */
function linesFor(terminal: Terminal): Pick<PluginLog, "debug" | "info" | "warn" | "error"> {
  const line = (fields: object | string, message?: string) =>
    terminal.note(visible(typeof fields === "string" ? fields : (message ?? "")));
  return { debug: line, info: line, warn: line, error: line };
}
