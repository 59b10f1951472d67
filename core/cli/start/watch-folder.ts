/** Reports when files of a folder were saved, with those in its folders, but not those that belong to tools. */
import { watch } from "node:fs";
import { stat } from "node:fs/promises";
import { join, sep } from "node:path";

/** Editors write a file in several steps. */
const debounceMs = 30;

/** Libraries, and what editors and version control keep beside the files. */
const isForeign = (name: string): boolean =>
  name.split(sep).some((part) => part === "node_modules" || part.startsWith(".")) || /[~#]$/.test(name);

/** `savedAt`: when the last of the files was saved, in epoch milliseconds. Stops with the signal, and does not keep the process. */
export function watchFolder(
  folder: string,
  { signal, now }: { readonly signal: AbortSignal; readonly now: () => number },
  onSaved: (savedAt: number) => void,
): void {
  let names = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, { recursive: true, persistent: false, signal, ignore: "**/node_modules/**" }, (_, name) => {
    if (name === null || isForeign(name)) return;
    names.add(name);
    clearTimeout(timer);
    timer = setTimeout(() => void tell(), debounceMs);
    timer.unref();
  });
  // It ends with the folder.
  watcher.on("error", () => {});

  async function tell(): Promise<void> {
    const saved = [...names];
    names = new Set();
    const times = await Promise.all(
      saved.map((name) =>
        stat(join(folder, name))
          .then(({ mtimeMs }) => mtimeMs)
          .catch(now),
      ),
    );
    if (!signal.aborted) onSaved(Math.max(...times));
  }
}
