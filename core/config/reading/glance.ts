/** The few things that most commands need to know of a configuration file: read without the schema, also from a file that is broken. */
import { HostError } from "../../contract/index.ts";
import { getPath } from "../path.ts";
import { readConfigText } from "./file.ts";
import type { ConfigLocation } from "./locate.ts";

export interface Glance {
  /** `state.dir`, where it is a text. */
  readonly state: { readonly dir?: string };
  /** The texts of `plugins.load`. */
  readonly plugins: readonly string[];
  /** Why nothing else can be done with the file. */
  readonly broken?: HostError;
}

/** Throws `config_missing` and `config_unreadable`. What has a wrong type is passed over, as it is where the file is checked. */
export async function glanceAt({ file, named }: ConfigLocation): Promise<Glance> {
  const text = await readConfigText(file);
  if (text === undefined && named) throw new HostError("config_missing", { file });
  if (text === undefined) return { state: {}, plugins: [] };
  const { value, broken } = await read(text, file);
  const dir = getPath(value, ["state", "dir"]);
  const load = getPath(value, ["plugins", "load"]);
  return {
    state: typeof dir === "string" ? { dir } : {},
    plugins: Array.isArray(load) ? load.filter((name) => typeof name === "string") : [],
    ...(broken === undefined ? {} : { broken }),
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
      // Nested so deep that nothing can be read of it.
      return { value: {}, broken };
    }
  }
}
