/** Gives chats access to the configuration file. It never reveals secrets and only changes keys marked for it. */
import { HostError } from "../../contract/index.ts";
import { modelsOutsideList } from "../checking/model-rules.ts";
import { parsePath } from "../path.ts";
import { type PluginSchemas, wholeSchema } from "../plugin-schemas.ts";
import { type ChatPlace, notChatWritable } from "./chat-writable.ts";
import { type EditOptions, type EditResult, editConfig } from "./edit.ts";
import { parseConfigValue, showConfigValue } from "./values.ts";

export interface ConfigEditor {
  /**
   * The effective value at a path, with defaults and hidden secrets; `undefined` if not set. An empty path returns
   * everything. Throws `config_path_unknown`.
   */
  get(path: string): unknown;
  /**
   * Sets a value as typed by a user, see `parseConfigValue`. Throws `config_not_from_chat` for keys that chats may not
   * write, and the errors of `editConfig`. On an error, nothing is written.
   */
  set(path: string, text: string, place: ChatPlace): Promise<EditResult>;
  /** Removes a value, so that its default applies. Throws the same errors as `set`. */
  unset(path: string, place: ChatPlace): Promise<EditResult>;
}

export function createConfigEditor(options: {
  readonly file: string;
  readonly config: () => unknown;
  readonly schemas: () => PluginSchemas;
  readonly edit: EditOptions;
}): ConfigEditor {
  const { file, config, schemas } = options;
  // Only new problems reject an edit. Existing ones, which the operator wrote by hand, do not.
  const edit = (): EditOptions => ({
    ...options.edit,
    schemas: schemas(),
    check: async (checked) => [...((await options.edit.check?.(checked)) ?? []), ...modelsOutsideList(checked.config)],
  });

  async function write(path: string, value: unknown, place: ChatPlace): Promise<EditResult> {
    const segments = parsePath(path) ?? [];
    const key = notChatWritable(wholeSchema(schemas()), { path: segments, value, config: config(), place });
    if (key !== undefined) throw new HostError("config_not_from_chat", { path: key || path });
    return await editConfig(file, segments, value, edit());
  }

  return {
    get: (path) => showConfigValue(config(), path, schemas()),
    set: async (path, text, place) => await write(path, parseConfigValue(path, text, schemas()), place),
    unset: async (path, place) => await write(path, undefined, place),
  };
}
