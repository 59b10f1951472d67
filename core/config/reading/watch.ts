/**
 * Reports when the content of the configuration file changes. Editors replace files, so the directory is watched; a slow look at the file
 * itself covers what the system does not report (network file systems, symbolic links on the way, a directory that was replaced).
 */
import { type FSWatcher, watch } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { HostError, reasonOf } from "../../contract/index.ts";
import type { Environment } from "../secrets.ts";
import { digestOf } from "./digest.ts";
import { readConfigText } from "./file.ts";
import { type LoadedConfig, loadConfig } from "./load.ts";

export type ConfigChange =
  | { readonly loaded: LoadedConfig; readonly error?: never }
  | { readonly loaded?: never; readonly error: HostError };

export interface WatchOptions {
  /** Ends the watching. */
  readonly signal: AbortSignal;
  readonly env?: Environment;
  /** `digest` of what the caller loaded, so that a change before the watching began is reported too. Default: the file as it is now. */
  readonly digest?: string;
  /** How long the file must be quiet before it is read. */
  readonly debounceMs?: number;
  /** How often the file itself is looked at. */
  readonly pollMs?: number;
}

/**
 * Calls back with the new configuration, or with what is wrong with the file: then the last good one should be kept. A file that is
 * touched, or replaced by the same text, has not changed. Does not keep the process alive. Returns a function that looks at once and
 * resolves when a change has been reported.
 */
export function watchConfig(file: string, onChange: (change: ConfigChange) => void, options: WatchOptions): () => Promise<void> {
  const { signal, env = process.env, debounceMs = 100, pollMs = 2_000 } = options;
  const path = resolve(file);
  let digest = options.digest;
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

  // One look at a time, in order: an older text must never come after a newer one.
  const look = () => {
    busy = busy.then(check).catch((thrown: unknown) => tell({ error: asHostError(thrown, path) }));
    return busy;
  };

  const tell = (change: ConfigChange) => {
    if (!signal.aborted) onChange(change);
  };

  async function check(): Promise<void> {
    const first = digest === undefined;
    const next = await currentDigest(path, debounceMs);
    if (signal.aborted || next === digest) return;
    digest = next;
    if (first) return;
    try {
      const loaded = await loadConfig({ file: path, env });
      digest = loaded.digest;
      tell({ loaded });
    } catch (thrown) {
      tell({ error: asHostError(thrown, path) });
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
    // The system may have reported it already; if not, its watch no longer works.
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
  return look;
}

/** A file that is being replaced is missing for a moment: look twice before it counts as gone. */
async function currentDigest(path: string, waitMs: number): Promise<string> {
  const text = await readConfigText(path);
  if (text !== undefined) return digestOf(text);
  await new Promise<void>((done) => void setTimeout(done, waitMs).unref());
  return digestOf(await readConfigText(path));
}

async function fingerprint(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found ? `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}` : "missing";
}

// By name: the state often lies in the same directory, and writes all the time.
function watchBeside(file: string, onEvent: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(dirname(file), { persistent: false }, (_kind, name) => {
      if (name === null || name === basename(file)) onEvent();
    });
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

function asHostError(thrown: unknown, file: string): HostError {
  return thrown instanceof HostError ? thrown : new HostError("config_unreadable", { file, reason: reasonOf(thrown) }, { cause: thrown });
}
