/** Presets: mappings of the hook server that users enable by name. */
import type { TObject } from "typebox";
import type { Thinking } from "../../contract/index.ts";

/**
 * One mapping of a preset: the fields of `hooks.mappings` that do not depend on the user. Texts are templates over the
 * payload, such as `{{ messages[0].subject }}`; `examples/reference/webhook-mappings.md` describes each field. Settings
 * of the user for the whole preset (`model`, `thinking`, `instructions`, `allowUnsafeExternalContent` in `hooks.<preset
 * id>`) override the values here.
 */
export interface PresetMapping {
  /** Name in logs and in the operator's view. Defaults to the preset's id, with a number from the second mapping on. */
  readonly id?: string;
  /** Which requests at the preset's path the mapping takes. Absent: all. */
  readonly match?: {
    readonly source?: string;
    readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    readonly where?: Readonly<
      Record<
        string,
        | string
        | number
        | boolean
        | null
        | readonly (string | number | boolean | null)[]
        | { readonly exists: boolean }
        | { readonly matches: string }
      >
    >;
  };
  /** Default `agent`. */
  readonly action?: "wake" | "agent";
  readonly wakeMode?: "now" | "next-heartbeat";
  readonly name?: string;
  readonly sessionKey?: string;
  readonly sessionMode?: "isolated" | "persistent";
  readonly messageTemplate?: string;
  readonly textTemplate?: string;
  /** What the agent should do, in plain words. The model reads it outside the wrapper around the content. */
  readonly instructions?: string;
  readonly deliver?: boolean;
  readonly thinking?: Thinking;
  readonly timeoutSeconds?: number;
  /** Payload path of a list. Each element starts a run of its own, which sees it as the only element. */
  readonly forEach?: string;
  readonly deliverOnly?: boolean;
  /** HTTP status of a success, for senders that require a specific one. */
  readonly status?: 200 | 201 | 202 | 204;
  /** Default `json`. */
  readonly body?: "json" | "form" | "text";
}

/** Mappings for the requests of one kind of sender. The user enables them with `hooks.presets: ["<id>"]`. */
export interface PresetDefinition {
  /** The name in `hooks.presets`: `a-z`, `0-9`, `-`, starting with a letter, at most 64 characters. */
  readonly id: string;
  /** Sub-path below `hooks.path`. The user's own mapping for the same path takes precedence. */
  readonly path: string;
  /** In order; the first that matches takes the request. */
  readonly mappings: readonly PresetMapping[];
  /**
   * Keys of `hooks.<id>` beside those that every preset has, such as feeds that the plugin watches itself;
   * `host.preset` returns them. They are declared like the keys of a section.
   */
  readonly settings?: TObject;
}
