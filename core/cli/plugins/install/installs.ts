/** The folder of installed plugins: one change at a time, each complete or without effect. */
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { HostError } from "../../../contract/errors.ts";
import {
  type InstalledPlugin,
  type InstalledPlugins,
  installedFolder,
  installedPlugins,
  lockFileOf,
} from "../../../host/installed.ts";
import { makeDirectory, ownLike, writeWhole } from "../../../state/directory.ts";
import { lockState } from "../../../state/lock.ts";

const stagePrefix = ".new-";

export interface Installs {
  readonly plugins: () => InstalledPlugins;
  /** An empty folder for a package that is not installed yet. */
  stage(): string;
  /** Makes a stage the folder of a plugin, then records it. The version before stays on the disk. */
  commit(name: string, stage: string, installed: Omit<InstalledPlugin, "folder">): void;
  /** Forgets a plugin. Its files stay on the disk. */
  forget(name: string): void;
  /** Whether the files of a plugin are there. */
  isComplete(name: string): boolean;
  /** Removes what no entry names: former versions, and what killed commands left. */
  clean(): void;
  close(): void;
}

/** Throws `plugins_busy` while another process changes the folder. */
export function openInstalls(configDirectory: string): Installs {
  const directory = join(configDirectory, installedFolder);
  const lock = lockInstalls(directory);
  /** A gateway with a user of its own must be able to read what root installs, as it reads the configuration. */
  const like = statSync(configDirectory);
  chmodSync(directory, like.mode & 0o777);
  const own = (path: string) => ownLike(path, like);
  const plugins = () => installedPlugins(configDirectory);
  const write = (all: InstalledPlugins) => {
    const sorted = Object.fromEntries(Object.entries(all).sort(([one], [other]) => (one < other ? -1 : 1)));
    const text = `${JSON.stringify({ lockVersion: 1, plugins: sorted }, undefined, 2)}\n`;
    writeWhole(lockFileOf(configDirectory), text, { uid: like.uid, gid: like.gid, mode: like.mode & 0o666 });
  };
  /** No other process has a stage, because this one holds the lock. */
  const removeWhere = (isLeft: (entry: string) => boolean) => {
    for (const entry of readdirSync(directory, { withFileTypes: true }))
      if (entry.isDirectory() && isLeft(entry.name))
        rmSync(join(directory, entry.name), { recursive: true, force: true, maxRetries: 3 });
  };
  removeWhere((name) => name.startsWith(stagePrefix));
  return {
    plugins,
    stage() {
      const stage = join(directory, `${stagePrefix}${randomBytes(6).toString("hex")}`);
      mkdirSync(stage, { mode: 0o700 });
      return stage;
    },
    commit(name, stage, installed) {
      const unique = randomBytes(3).toString("hex");
      const folder = `${name.replace("/", "+")}-${installed.version}-${unique}`;
      for (const entry of readdirSync(stage, { recursive: true, encoding: "utf8" })) own(join(stage, entry));
      own(stage);
      chmodSync(stage, like.mode & 0o777);
      renameSync(stage, join(directory, folder));
      write({ ...plugins(), [name]: { ...installed, folder } });
    },
    forget(name) {
      const { [name]: _, ...others } = plugins();
      write(others);
    },
    isComplete(name) {
      const { folder } = plugins()[name] ?? {};
      return folder !== undefined && existsSync(join(directory, folder, "node_modules", name, "package.json"));
    },
    clean() {
      const used = new Set(Object.values(plugins()).map(({ folder }) => folder));
      removeWhere((name) => !used.has(name));
    },
    close() {
      const isUnused = !existsSync(lockFileOf(configDirectory));
      lock.release();
      if (isUnused) rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function lockInstalls(directory: string): ReturnType<typeof lockState> {
  makeDirectory(directory);
  try {
    return lockState(directory);
  } catch (error) {
    if (!(error instanceof HostError) || error.code !== "state_locked") throw error;
    const pid = /process (\d+)/.exec(error.message)?.[1] ?? "?";
    throw new HostError("plugins_busy", { directory, pid }, { cause: error });
  }
}
