/** The configuration file as chats read and change it: nothing secret comes out, and only marked keys go in. */
import { HostError } from "../../contract/index.ts";
import { modelsOutsideList } from "../checking/model-rules.ts";
import { parsePath } from "../path.ts";
import { type PluginSchemas, wholeSchema } from "../plugin-schemas.ts";
import { type ChatPlace, notChatWritable } from "./chat-writable.ts";
import { type EditOptions, type EditResult, editConfig } from "./edit.ts";
import { parseConfigValue, showConfigValue } from "./values.ts";

export interface ConfigEditor {
  /** What is in force at a path, defaults included and secrets hidden; `undefined`: not set. An empty path is the whole. Throws `config_path_unknown`. */
  get(path: string): unknown;
  /**
   * Sets a value as it was typed, see `parseConfigValue`. Throws `config_not_from_chat` for a key that chats may not write, and what
   * `editConfig` throws; then nothing was written.
   */
  set(path: string, text: string, place: ChatPlace): Promise<EditResult>;
  /** Removes a value, so that its default is in force. Throws like `set`. */
  unset(path: string, place: ChatPlace): Promise<EditResult>;
}

export function createConfigEditor(options: {
  readonly file: string;
  readonly config: () => unknown;
  readonly schemas: () => PluginSchemas;
  readonly edit: EditOptions;
}): ConfigEditor {
  const { file, config, schemas } = options;
  // What the operator wrote by hand stays: only new problems refuse an edit.
  const edit: EditOptions = {
    ...options.edit,
    check: (checked) => [...(options.edit.check?.(checked) ?? []), ...modelsOutsideList(checked.config)],
  };

  async function write(path: string, value: unknown, place: ChatPlace): Promise<EditResult> {
    const segments = parsePath(path) ?? [];
    const key = notChatWritable(wholeSchema(schemas()), { path: segments, value, config: config(), place });
    if (key !== undefined) throw new HostError("config_not_from_chat", { path: key || path });
    return await editConfig(file, segments, value, edit);
  }

  return {
    get: (path) => showConfigValue(config(), path, schemas()),
    set: async (path, text, place) => await write(path, parseConfigValue(path, text, schemas()), place),
    unset: async (path, place) => await write(path, undefined, place),
  };
}
