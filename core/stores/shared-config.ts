/**
 * A configuration that all nodes of a store share (`state.config: "store"`). The store has the text; the file of each
 * node follows it, and an edit of any of these files becomes the new text. Settings that name the store and the node
 * stay in each file.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  digestOf,
  type Environment,
  hasLocalSettingsOnly,
  loadConfig,
  type PluginSchemas,
  readConfigText,
  replaceConfig,
  sharedText,
  withLocalSettings,
} from "../config/index.ts";
import type { Json } from "../contract/index.ts";
import { type Store, writeWhole } from "../state/index.ts";

const namespace = "config";
const key = "shared";
const baseName = "shared-config.json";

/** The shared text, as the store has it. */
interface Stored {
  /** Grows by one with each change. */
  readonly revision: number;
  readonly text: string;
}

/** What file and store last had in common. */
interface Base {
  readonly revision: number;
  /** A fingerprint of the file's shared part. */
  readonly content: string;
}

/**
 * `same`: nothing had to be done. `pulled`: the file was changed. `pushed`: the store was changed. `invalid`: the file
 * has an error, so its edit is not shared. `copy`: the file with the former text, where another node's edit was faster
 * than that of this file.
 */
export interface Synced {
  readonly what: "same" | "pulled" | "pushed" | "invalid";
  readonly copy?: string;
}

export interface SharedConfig {
  /** Compares file and store, and changes the one that is behind. */
  sync(): Promise<Synced>;
}

export function createSharedConfig({
  store,
  file,
  stateDirectory,
  env,
  schemas,
}: {
  readonly store: Pick<Store, "get" | "update">;
  readonly file: string;
  readonly stateDirectory: string;
  readonly env: Environment;
  /** What the plugins declare, as far as they are loaded. */
  readonly schemas: () => PluginSchemas | undefined;
}): SharedConfig {
  const basePath = join(stateDirectory, baseName);
  const readStored = async () => (await store.get(namespace, key)) as unknown as Stored | null;
  const keepBase = (revision: number, text: string) =>
    writeWhole(basePath, JSON.stringify({ revision, content: digestOf(sharedText(text)) } satisfies Base));

  async function readBase(): Promise<Base | undefined> {
    try {
      return JSON.parse(await readFile(basePath, "utf8")) as Base;
    } catch {
      // The file has not been compared with the store yet.
      return undefined;
    }
  }

  /** Only a configuration without errors is shared. Resolves with `undefined` if the store was changed meanwhile. */
  async function push(text: string, before: number): Promise<Synced | undefined> {
    const { problems } = await loadConfig({ file, env, schemas: schemas() });
    if (problems.some(({ severity }) => severity === "error")) return { what: "invalid" };
    let won = false;
    await store.update(namespace, key, (value) => {
      won = ((value as unknown as Stored | null)?.revision ?? 0) === before;
      return won ? ({ revision: before + 1, text: sharedText(text) } satisfies Stored as unknown as Json) : undefined;
    });
    if (!won) return undefined;
    keepBase(before + 1, text);
    return { what: "pushed" };
  }

  /** Resolves with `undefined` if the file was changed meanwhile. */
  async function pull(text: string | undefined, stored: Stored, isEdited: boolean): Promise<Synced | undefined> {
    const after = withLocalSettings(stored.text, text ?? "");
    const saved = isEdited && text !== undefined && !hasLocalSettingsOnly(text) ? { copy: `${file}.replaced` } : {};
    if (saved.copy !== undefined) await writeFile(saved.copy, text ?? "", { mode: 0o600 });
    if (after !== text && !(await replaceConfig(file, text, after))) return undefined;
    keepBase(stored.revision, after);
    return { what: after === text ? "same" : "pulled", ...saved };
  }

  async function trySync(): Promise<Synced | undefined> {
    const [text, stored, base] = await Promise.all([readConfigText(file), readStored(), readBase()]);
    const content = digestOf(sharedText(text ?? ""));
    if (stored === null) return await push(text ?? "", 0);
    const isEdited = content !== base?.content;
    if (stored.revision !== base?.revision)
      return await pull(text, stored, isEdited && content !== digestOf(stored.text));
    return isEdited ? await push(text ?? "", stored.revision) : { what: "same" };
  }

  return {
    async sync() {
      for (;;) {
        const synced = await trySync();
        if (synced !== undefined) return synced;
      }
    },
  };
}
