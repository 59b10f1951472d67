/** What authors of transforms write against; `core/sdk/contract.ts` exports it. */
import type { Json } from "./types.ts";

/**
 * What a transform receives of one delivery. Everything is frozen, and came from outside: it may be anything. Credentials, cookies and
 * signatures of the request are left out. With `forEach`, `payload` holds the one element as the only one of its list.
 */
export interface TransformContext<P = Json> {
  /** The body as the mapping reads it: JSON, the fields of a form, or a text. */
  readonly payload: P;
  /** Names in lower case; a repeated one is joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The last value of each name. */
  readonly query: Readonly<Record<string, string>>;
  /** Below `hooks.path`, without slashes at the ends. */
  readonly path: string;
  /** The payload's own field `source` when that is a text, else empty. */
  readonly source: string;
  /** When the request came: ISO 8601, UTC, with milliseconds. */
  readonly now: string;
}

/**
 * Fields that replace those of the mapping, after its templates; each is checked as a request's would be. Fields of other names are
 * ignored. The result is plain JSON, at most 1,048,576 characters: no `Date`, no class, no getter, nothing that contains itself.
 */
export interface TransformFields {
  /** `wake`: a system event in the main session. `agent`: a turn of its own. */
  readonly action?: "wake" | "agent";
  /** What the agent is asked, of `action: "agent"`. */
  readonly message?: string;
  /** The system event, of `action: "wake"`. */
  readonly text?: string;
  /** Human-readable name of the hook; begins its summaries. */
  readonly name?: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
  readonly sessionMode?: "isolated" | "persistent";
  readonly wakeMode?: "now" | "next-heartbeat";
  /** Whether the reply goes to a chat. */
  readonly deliver?: boolean;
  /** True: the message itself goes to the chat, without an agent. */
  readonly deliverOnly?: boolean;
  /** `last`, or the id of a channel. */
  readonly channel?: string;
  readonly to?: string;
  readonly model?: string;
  readonly thinking?: string;
  /** Longest run, in seconds. */
  readonly timeoutSeconds?: number;
  /** False puts the wrapper around content from outside back on where the mapping took it off; true changes nothing. */
  readonly allowUnsafeExternalContent?: boolean;
}

/** What a transform answers: fields; `undefined` to override nothing; `null` when there is nothing to do (the sender is answered 204). */
export type TransformResult = TransformFields | null | undefined;

/**
 * A transform: the default export of a file in the transforms root, or the export that `transform.export` names. It runs in an engine
 * without files, network or environment, for at most `hooks.transforms.timeoutSeconds`; `core/transforms/README.md` lists what it has.
 * An error costs its own delivery (500 `mapping_failed`).
 */
export type Transform<P = Json> = (context: TransformContext<P>) => TransformResult | Promise<TransformResult>;
