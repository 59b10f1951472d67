/** Reads the few settings that most commands need, without the schema and even from a damaged file. */
import { HostError } from "../../contract/index.ts";
import { embeddedStore } from "../embedded-store.ts";
import { getPath } from "../path.ts";
import { readConfigText } from "./file.ts";
import type { ConfigLocation } from "./locate.ts";

export interface Glance {
  /** The place of the state: `dir` and `store` if they are texts, `url` as it is in the file. */
  readonly state: { readonly dir?: string; readonly store: string; readonly url?: unknown };
  /** `gateway.node`, if it is a text. */
  readonly node?: string;
  /** The texts in `plugins.load`. */
  readonly plugins: readonly string[];
  /** The syntax error because of which the rest of the file cannot be used. */
  readonly broken?: HostError;
}

/**
 * Reads these settings. Throws `config_missing` and `config_unreadable`. Values of a wrong type are ignored, as they
 * are when the file is checked.
 */
export async function glanceAt({ file, named }: ConfigLocation): Promise<Glance> {
  const text = await readConfigText(file);
  if (text === undefined && named) throw new HostError("config_missing", { file });
  if (text === undefined) return { state: { store: embeddedStore }, plugins: [] };
  const { value, broken } = await read(text, file);
  const [dir, store, url] = ["dir", "store", "url"].map((key) => getPath(value, ["state", key]));
  const node = getPath(value, ["gateway", "node"]);
  const load = getPath(value, ["plugins", "load"]);
  return {
    state: {
      ...(typeof dir === "string" ? { dir } : {}),
      store: typeof store === "string" ? store : embeddedStore,
      url,
    },
    ...(typeof node === "string" ? { node } : {}),
    plugins: Array.isArray(load) ? load.filter((name) => typeof name === "string") : [],
    broken,
  };
}

async function read(text: string, file: string): Promise<{ readonly value: unknown; readonly broken?: HostError }> {
  const [{ parse }, { parseDocument }] = await Promise.all([import("jsonc-parser"), import("./document.ts")]);
  try {
    return { value: parseDocument(text, file).value };
  } catch (broken) {
    if (!(broken instanceof HostError)) throw broken;
    try {
      return { value: parse(text) as unknown, broken };
    } catch {
      // The file is nested too deeply to read anything.
      return { value: {}, broken };
    }
  }
}
