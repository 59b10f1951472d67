/** What an operator removes, and what is kept of one person. */
import type { Json } from "../contract/index.ts";
import type { PlatformId } from "./report.ts";

/** A person by the id that their platform has for them. */
export type Person = Required<PlatformId>;

/** A message of a transcript, and where it is. */
export interface KeptMessage {
  readonly id: number;
  readonly transcript: number;
  readonly session: string;
  readonly generation: number;
  readonly role: string;
  readonly at: number;
  readonly content: Json;
  readonly unitId?: string;
}

export interface KeptRow {
  readonly namespace: string;
  readonly key: string;
  readonly value: Json;
}

export interface Removals {
  /** Durable. Removes a session: all its conversations and its settings. */
  deleteSession(key: string): Promise<{ readonly found: boolean; readonly messages: number }>;
  /** Messages of transcripts that were written by one of the units or contain the text; the oldest first. Reads all of them. */
  messagesAbout(about: { readonly text: string; readonly unitIds: readonly string[] }): Promise<readonly KeptMessage[]>;
  /** Durable. Removes messages of a transcript, and replaces the content of others. */
  editTranscript(edit: {
    readonly transcript: number;
    readonly remove: readonly number[];
    readonly replace: readonly { readonly id: number; readonly content: Json }[];
  }): Promise<void>;
  /** What was sent into a chat, for as long as its events are kept. */
  partsTo(chat: Person): Promise<readonly { readonly unitId: string; readonly part: Json; readonly at?: number }[]>;
  /**
   * Durable. Removes settled events with what belongs to them: body, decisions, parts. Their dedupe keys stay, as keys only. Resolves with
   * how many were removed; what has not ended stays.
   */
  removeEvents(ids: readonly string[]): Promise<number>;
  /** Durable. Removes what was sent into a chat, and that sessions remember it as their last recipient. */
  removeSentTo(chat: Person): Promise<{ readonly parts: number; readonly messageIds: number; readonly recipients: number }>;
  /** Key-value data of all namespaces whose key or value contains the text. */
  rowsAbout(text: string): Promise<readonly KeptRow[]>;
}
