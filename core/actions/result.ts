/** The results of actions, the same for agents, programs and the command line. */

/** The action was not performed. `error` is a sentence that names the cause; `code` is stable. */
export interface ActionRefusal {
  readonly ok: false;
  readonly error: string;
  readonly code: string;
  /** The platform may have done it. */
  readonly outcome?: "unknown";
}

/** A message was sent or changed. If the action became several messages, this is the first; `messageIds` lists all. */
export interface SentResult {
  readonly ok: true;
  readonly messageId: string;
  readonly chatId: string;
  readonly messageIds?: readonly string[];
}

/** A sticker that the bot can send. */
export interface FoundSticker {
  readonly fileId: string;
  readonly emoji?: string;
  readonly setName?: string;
  readonly description: string;
}

/** What an action would do. Nothing was done. */
export interface DryResult {
  readonly ok: true;
  readonly dryRun: true;
  readonly chatId?: string;
  readonly threadId?: string;
  /** The messages that would be sent. */
  readonly parts?: readonly { readonly kind: string; readonly chars: number }[];
}

export type ActionResult =
  | SentResult
  | { readonly ok: true }
  | { readonly ok: true; readonly stickers: readonly FoundSticker[] }
  | DryResult
  | ActionRefusal;

export function refuse(code: string, error: string): ActionRefusal {
  return { ok: false, error, code };
}

/** Joins the cause and the hint to sentences. */
export function sentences(what: string, hint?: string): string {
  return hint === undefined ? sentence(what) : `${sentence(what)} ${sentence(hint)}`;
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

export function isRefusal(value: object): value is ActionRefusal {
  return "ok" in value && value.ok === false;
}
