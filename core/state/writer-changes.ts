/** What the writer of a message does to it afterwards: they edit or delete it. */
import type { Json } from "../contract/index.ts";

/** A message as its platform names it; no words of it. */
export interface MessageName {
  readonly chat: string;
  readonly sender: string;
  readonly messageId: string;
}

/** An edit of a message that waited for its turn. */
export interface WaitingEdit {
  /** The dedupe key of the edit's own event. */
  readonly key: string;
  /** As the platform sent it. */
  readonly body: Json;
}

/** The body of a message that was edited before its turn. */
export interface EditedBody {
  /** As the platform sent the message first. */
  readonly original: Json;
  /** Oldest first. Whether an edit is by the writer of the message is for its reader to judge. */
  readonly edits: readonly WaitingEdit[];
}

/** The oldest edits give way. */
const mostEdits = 50;

const deleted = "$deleted";
const edited = "$edited";

/** What the gateway has written in the place of a body. A platform's own event may have a member of that name, too. */
function writtenIn(body: Json, name: string): Readonly<Record<string, unknown>> | undefined {
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, name)) return undefined;
  const value = (body as Readonly<Record<string, unknown>>)[name];
  return Object.keys(body).length === 1 && typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

/** The body of an event whose message its writer deleted. It still says whose message it was. */
export function deletedBody({ chat, sender, messageId }: MessageName): Json {
  return { [deleted]: { chat, sender, messageId } };
}

/** The message that was deleted; `undefined` for every other body. */
export function readDeleted(body: Json): MessageName | undefined {
  const { chat, sender, messageId } = writtenIn(body, deleted) ?? {};
  return typeof chat === "string" && typeof sender === "string" && typeof messageId === "string"
    ? { chat, sender, messageId }
    : undefined;
}

/** The message and its latest edit; `undefined` for every other body. */
export function readEdited(body: Json): EditedBody | undefined {
  const written = writtenIn(body, edited);
  return written !== undefined && "original" in written && Array.isArray(written.edits)
    ? (written as unknown as EditedBody)
    : undefined;
}

/**
 * The body of a message after one more edit; `undefined` if the message was deleted meanwhile. A platform may deliver
 * an earlier edit again, which must not count as the newest.
 */
export function withEdit(body: Json, edit: WaitingEdit): Json | undefined {
  if (readDeleted(body) !== undefined) return undefined;
  const { original = body, edits = [] } = readEdited(body) ?? {};
  const all = edits.some(({ key }) => key === edit.key) ? edits : [...edits, edit].slice(-mostEdits);
  return { [edited]: { original, edits: all.map(({ key, body: changed }) => ({ key, body: changed })) } };
}

/** The part of a store that follows the writers of messages. */
export interface WriterChanges {
  /**
   * The first event that was accepted under one of the dedupe keys gets an edit beside its message (`withEdit`), if no
   * attempt to run it has begun. Resolves with whether it did. Without a flush of its own, because it is asked together
   * with an `accept`.
   */
  editWaiting(keys: readonly string[], edit: WaitingEdit): Promise<boolean>;
  /**
   * Durable. Replaces the bodies of events, in whatever state they are, and removes the digests of their requests. A
   * unit that was claimed before has the former bodies.
   */
  redactEvents(ids: readonly string[], body: Json): Promise<void>;
}
