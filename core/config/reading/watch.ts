/**
 * Reports changes to the content of the configuration file. Editors replace files, so the directory is watched. Slow
 * polling of the file covers what the system does not report: network file systems, symbolic links on the path, a
 * replaced directory.
 */
import { type FSWatcher, watch } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { HostError, reasonOf } from "../../contract/index.ts";
import { onEvent } from "../../listeners/index.ts";
import type { PluginSchemas } from "../plugin-schemas.ts";
import type { Environment } from "../secrets.ts";
import { digestOf } from "./digest.ts";
import { readConfigText } from "./file.ts";
import { type ConfigOverride, type LoadedConfig, loadConfig, requireValue } from "./load.ts";

export type ConfigChange =
  | { readonly loaded: LoadedConfig; readonly error?: never }
  | { readonly loaded?: never; readonly error: HostError };

export interface WatchOptions {
  /** Stops watching when aborted. */
  readonly signal: AbortSignal;
  readonly env?: Environment;
  /** What the plugins declare now. */
  readonly schemas?: () => PluginSchemas | undefined;
  readonly override?: ConfigOverride | undefined;
  /**
   * `digest` of the configuration that the caller loaded, so that earlier changes are reported too. Default: that of
   * the current file.
   */
  readonly digest?: string;
  /**
   * Whether the file of that configuration has no value. If it has one, a file without a value is reported as an error.
   */
  readonly isEmpty?: boolean;
  /** How long the file must stay unchanged before it is read, in milliseconds. */
  readonly debounceMs?: number;
  /** How often the file itself is polled, in milliseconds. */
  readonly pollMs?: number;
}

/**
 * Calls back with the new configuration, or with the error in the file; then keep using the last valid configuration.
 * Touching a file, or replacing it with the same text, is not a change. Does not keep the process alive. Returns a
 * function that reads the file at once, reports it even if it is unchanged, because the files of its secrets may have
 * changed, and resolves when the callback has resolved.
 */
export function watchConfig(
  file: string,
  onChange: (change: ConfigChange) => Promise<void>,
  options: WatchOptions,
): () => Promise<void> {
  const { signal, env = process.env, schemas, override, debounceMs = 100, pollMs = 2_000 } = options;
  const path = resolve(file);
  let digest = options.digest;
  let { isEmpty = false } = options;
  let watchers: readonly FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let busy: Promise<void> = Promise.resolve();
  let seen = "";

  const soon = () => {
    if (signal.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(() => void look(), debounceMs);
    timer.unref();
  };

  // Checks run one at a time and in order, so that an older text never follows a newer one.
  const look = ({ anyway = false } = {}) => {
    busy = busy.then(() => check(anyway)).catch((thrown: unknown) => notify({ error: asHostError(thrown, path) }));
    return busy;
  };

  const notify = async (change: ConfigChange) => {
    if (!signal.aborted) await onChange(change);
  };

  async function check(anyway: boolean): Promise<void> {
    const first = digest === undefined;
    // No text has this digest, so the file counts as changed.
    if (anyway && !first) digest = "";
    const next = await currentDigest(path, debounceMs);
    if (signal.aborted || next === digest) return;
    digest = next;
    if (first) return;
    try {
      const loaded = await loadConfig({ file: path, env, schemas: schemas?.(), override });
      digest = loaded.digest;
      requireValue(loaded, { isEmpty });
      isEmpty = loaded.isEmpty;
      await notify({ loaded });
    } catch (thrown) {
      await notify({ error: asHostError(thrown, path) });
    }
  }

  async function open(): Promise<void> {
    for (const watcher of watchers) watcher.close();
    watchers = [];
    const real = await realpath(path).catch(() => path);
    if (signal.aborted) return;
    watchers = [...new Set([path, real])].flatMap((one) => watchBeside(one, soon) ?? []);
  }

  async function poll(): Promise<void> {
    const now = await fingerprint(path);
    if (signal.aborted || now === seen) return;
    const first = seen === "";
    seen = now;
    if (first) return;
    // The system may already have reported the change. If it did not, its watch no longer works and is opened again.
    await open();
    soon();
  }

  const interval = setInterval(() => void poll(), pollMs);
  interval.unref();
  signal.addEventListener("abort", () => {
    clearInterval(interval);
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  });
  if (signal.aborted) clearInterval(interval);
  else {
    void poll();
    void open();
    void look();
  }
  return () => look({ anyway: true });
}

/** A file is missing or blank for a moment while it is being written, so check twice before treating it as that. */
async function currentDigest(path: string, waitMs: number): Promise<string> {
  const text = await readConfigText(path);
  if (text !== undefined && text.trim() !== "") return digestOf(text);
  await new Promise<void>((done) => void setTimeout(done, waitMs).unref());
  return digestOf(await readConfigText(path));
}

async function fingerprint(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found ? `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}` : "missing";
}

// Filters by name, because the state often lies in the same directory and changes constantly.
function watchBeside(file: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(dirname(file), { persistent: false }, (_kind, name) => {
      if (name === null || name === basename(file)) onChange();
    });
    onEvent(watcher, "error", { source: "the watcher of the configuration", handle: () => watcher.close() });
    return watcher;
  } catch {
    return undefined;
  }
}

function asHostError(thrown: unknown, file: string): HostError {
  return thrown instanceof HostError
    ? thrown
    : new HostError("config_unreadable", { file, reason: reasonOf(thrown) }, { cause: thrown });
}
