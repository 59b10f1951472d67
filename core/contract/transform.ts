/** The types for authors of transforms, exported by `core/sdk/contract.ts`. */
import type { Json } from "./types.ts";

/**
 * The input of a transform: one delivery. Everything is frozen. The values come from outside and may be anything.
 * Credentials, cookies and signatures of the request are removed. With `forEach`, the list in `payload` contains only
 * the current element.
 */
export interface TransformContext<P = Json> {
  /** The body as the mapping reads it: JSON, form fields, or a text. */
  readonly payload: P;
  /** Headers by lower-case name. Repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** Query parameters by name. Of repeated ones, the last value. */
  readonly query: Readonly<Record<string, string>>;
  /** The path below `hooks.path`, without slashes at the ends. */
  readonly path: string;
  /** Set if the request was a GET, whose payload is its query; else it was a POST. */
  readonly method?: "GET";
  /** The field `source` of the payload if it is a text, else empty. */
  readonly source: string;
  /** When the request arrived: ISO 8601, UTC, with milliseconds. */
  readonly now: string;
}

/**
 * Fields that override those of the mapping, after its templates. Each is validated like a request's field; unknown
 * names are ignored. The result must be plain JSON of at most 1,048,576 characters: no `Date`, class instance, getter
 * or cycle.
 */
export interface TransformFields {
  /** `wake`: a system event in the main session. `agent`: a separate turn. */
  readonly action?: "wake" | "agent";
  /** The prompt for the agent, with `action: "agent"`. */
  readonly message?: string;
  /** The system event, with `action: "wake"`. */
  readonly text?: string;
  /** Human-readable name of the hook; its summaries begin with it. */
  readonly name?: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
  readonly sessionMode?: "isolated" | "persistent";
  readonly wakeMode?: "now" | "next-heartbeat";
  /** Whether the reply goes to a chat. */
  readonly deliver?: boolean;
  /** True sends the message itself to the chat, without an agent. */
  readonly deliverOnly?: boolean;
  /** `last`, or a channel id. */
  readonly channel?: string;
  readonly to?: string;
  /** What the reply contains of a platform's own, by channel: `{ botchat: { protect_content: true } }`. */
  readonly platform?: { readonly [channel: string]: Json };
  readonly model?: string;
  readonly thinking?: string;
  /** Time limit of the run, in seconds. */
  readonly timeoutSeconds?: number;
  /** False restores the wrapper around external content if the mapping removed it. True has no effect. */
  readonly allowUnsafeExternalContent?: boolean;
}

/**
 * The result of a transform: fields to override; `undefined` to override nothing; `null` if there is nothing to do (the
 * sender gets 204).
 */
export type TransformResult = TransformFields | null | undefined;

/**
 * A transform: the default export of a file in the transforms directory, or the export named by `transform.export`. It
 * runs in an engine without files, network or environment, for at most `hooks.transforms.timeoutSeconds`.
 * `examples/reference/transforms.md` lists what is available. An error only fails its own delivery (500
 * `mapping_failed`).
 */
export type Transform<P = Json> = (context: TransformContext<P>) => TransformResult | Promise<TransformResult>;
