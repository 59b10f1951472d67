/** The copies of one gateway: the newest serves whoever starts, an older one lives while a process still reads it. */

import { realpathSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";

export interface HeldSnapshot extends Snapshot {
  /** JavaScript of files that had to be compiled, by relative path. */
  readonly compiled: Map<string, string>;
  /** To be called once by whoever got it. */
  release(): void;
}

export interface Snapshots {
  /** A copy of `realRoot`; `fresh`: made now, not one from before. */
  hold(options: {
    readonly realRoot: string;
    readonly fresh: boolean;
  }): Promise<{ readonly snapshot: HeldSnapshot; readonly reused: boolean }>;
  close(): Promise<void>;
}

interface Copy {
  readonly snapshot: Snapshot;
  readonly compiled: Map<string, string>;
  users: number;
}

export function createSnapshots(options: { readonly directory: string }): Snapshots {
  const directory = resolve(options.directory);
  const copies = new Set<Copy>();
  let newest: Copy | undefined;
  let count = 0;
  let prepared: Promise<string> | undefined;
  let making: Promise<Copy> | undefined;

  /** What a killed gateway left here is of no use, and may be large. */
  const prepare = async (): Promise<string> => {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return realpathSync(directory);
  };

  const drop = (copy: Copy): void => {
    if (copy.users > 0 || copy === newest) return;
    copies.delete(copy);
    rm(copy.snapshot.directory, { recursive: true, force: true }).catch(() => {});
  };

  const make = async (realRoot: string): Promise<Copy> => {
    prepared ??= prepare();
    const base = await prepared;
    count += 1;
    const previous = newest?.snapshot.realRoot === realRoot ? newest : undefined;
    const snapshot = await takeSnapshot({ realRoot, directory: join(base, String(count)), previous: previous?.snapshot });
    // What was compiled from a file that is the same now is the same.
    const compiled = new Map(
      [...(previous?.compiled ?? [])].filter(([path]) => previous?.snapshot.marks.get(path) === snapshot.marks.get(path)),
    );
    const copy: Copy = { snapshot, compiled, users: 0 };
    const before = newest;
    newest = copy;
    copies.add(copy);
    if (before !== undefined) drop(before);
    return copy;
  };

  const use = (copy: Copy): HeldSnapshot => {
    copy.users += 1;
    let released = false;
    return {
      ...copy.snapshot,
      compiled: copy.compiled,
      release() {
        if (released) return;
        released = true;
        copy.users -= 1;
        drop(copy);
      },
    };
  };

  return {
    async hold({ realRoot, fresh }) {
      if (!fresh && newest?.snapshot.realRoot === realRoot) return { snapshot: use(newest), reused: true };
      // A copy that is being made may have passed an edit already, so it counts as one from before.
      const running = making;
      if (running !== undefined) {
        await running.catch(() => {});
        return this.hold({ realRoot, fresh });
      }
      making = make(realRoot);
      try {
        return { snapshot: use(await making), reused: false };
      } finally {
        making = undefined;
      }
    },
    async close() {
      await making?.catch(() => {});
      newest = undefined;
      copies.clear();
      if (prepared !== undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}
