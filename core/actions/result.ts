/** What an action comes to. Agents, programs and the command line read the same shapes. */

/** It was not done, and why: `error` is a sentence that names what decided, `code` is stable. */
export interface ActionRefusal {
  readonly ok: false;
  readonly error: string;
  readonly code: string;
}

/** A message that was sent or changed; of several that an action became, the first, with all of them beside it. */
export interface SaidResult {
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

/** What an action would come to, while nothing is done. */
export interface DryResult {
  readonly ok: true;
  readonly dryRun: true;
  readonly chatId?: string;
  readonly threadId?: string;
  /** The messages that it would become. */
  readonly parts?: readonly { readonly kind: string; readonly chars: number }[];
}

export type ActionResult =
  | SaidResult
  | { readonly ok: true }
  | { readonly ok: true; readonly stickers: readonly FoundSticker[] }
  | DryResult
  | ActionRefusal;

export function refuse(code: string, error: string): ActionRefusal {
  return { ok: false, error, code };
}

/** What it was, and what can be done about it. */
export function sentences(what: string, hint?: string): string {
  return hint === undefined ? sentence(what) : `${sentence(what)} ${sentence(hint)}`;
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

export function isRefusal(value: object): value is ActionRefusal {
  return "ok" in value && value.ok === false;
}
