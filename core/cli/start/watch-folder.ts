/** Reports when files of a folder were saved, with those in its folders, but not those that belong to tools. */
import { type FSWatcher, readdirSync, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { onEvent } from "../../listeners/listen.ts";

/** Editors write a file in several steps. */
const debounceMs = 30;

/** Libraries, and what editors and version control keep beside the files. */
const isOfTools = (name: string): boolean => name === "node_modules" || name.startsWith(".") || /[~#]$/.test(name);

/**
 * `savedAt`: when the last of the files was saved, in epoch milliseconds. `isForeign` names more paths that are left
 * out. Stops with the signal, and does not keep the process.
 */
export function watchFolder(
  folder: string,
  options: { readonly signal: AbortSignal; readonly now: () => number; isForeign(path: string): boolean },
  onSaved: (savedAt: number, files: readonly string[]) => void,
): void {
  const { signal, now } = options;
  const isForeign = (directory: string, name: string) => isOfTools(name) || options.isForeign(join(directory, name));
  const watchers = new Map<string, FSWatcher>();
  let paths = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  // One watcher for each folder: the recursive one of Node 24 loses a file when an editor saves it by renaming another.
  function watchOne(directory: string): void {
    if (watchers.has(directory)) return;
    const watcher = watch(directory, { persistent: false, signal }, (_, name) => {
      if (name === null || isForeign(directory, name)) return;
      paths.add(join(directory, name));
      clearTimeout(timer);
      timer = setTimeout(() => void report(), debounceMs);
      timer.unref();
    });
    watchers.set(directory, watcher);
    // It ends with its folder.
    const source = `the watcher of ${directory}`;
    onEvent(watcher, "error", { source, handle: () => watcher.close() });
    onEvent(watcher, "close", { source, handle: () => watchers.delete(directory) });
    for (const entry of readdirSync(directory, { withFileTypes: true }))
      if (entry.isDirectory() && !isForeign(directory, entry.name)) watchOne(join(directory, entry.name));
  }

  async function savedAt(path: string): Promise<number> {
    try {
      const found = await stat(path);
      if (found.isDirectory() && !signal.aborted) watchOne(path);
      return found.mtimeMs;
    } catch {
      // It was removed.
      watchers.get(path)?.close();
      return now();
    }
  }

  async function report(): Promise<void> {
    const saved = [...paths];
    paths = new Set();
    const times = await Promise.all(saved.map(savedAt));
    if (!signal.aborted) onSaved(Math.max(...times), saved);
  }

  watchOne(folder);
}
