/** Removal of stored data by an operator, and search for the data about one person. */
import type { Json } from "../contract/index.ts";
import type { PlatformId } from "./report.ts";

/** A person, identified by their platform id. */
export type Person = Required<PlatformId>;

/** A stored transcript message and its location. */
export interface StoredMessage {
  readonly id: number;
  readonly transcript: number;
  readonly session: string;
  readonly generation: number;
  readonly role: string;
  readonly at: number;
  readonly content: Json;
  readonly unitId?: string;
}

/** A stored value of the key-value data. */
export interface StoredRow {
  readonly namespace: string;
  readonly key: string;
  readonly value: Json;
}

/** The part of a store that an operator uses to find and remove data. */
export interface Removals {
  /**
   * Durable. Removes a session with all its conversations and settings, and its key from the ledger of model calls.
   */
  deleteSession(key: string): Promise<{ readonly found: boolean; readonly messages: number }>;
  /**
   * Transcript messages that contain the text or were written by one of the units, oldest first. Reads all transcripts,
   * or those of one session.
   */
  messagesAbout(about: {
    readonly text: string;
    readonly unitIds: readonly string[];
    readonly session?: string;
  }): Promise<readonly StoredMessage[]>;
  /** Durable. Removes messages of a transcript and replaces the content of others. */
  editTranscript(edit: {
    readonly transcript: number;
    readonly remove: readonly number[];
    readonly replace: readonly { readonly id: number; readonly content: Json }[];
  }): Promise<void>;
  /** The parts sent to a chat whose events are still stored. */
  partsTo(chat: Person): Promise<readonly { readonly unitId: string; readonly part: Json; readonly at?: number }[]>;
  /**
   * Durable. Removes settled events with their bodies, decisions and parts. Only their dedupe keys remain. Resolves
   * with the number of removed events; events that have not ended are kept.
   */
  removeEvents(ids: readonly string[]): Promise<number>;
  /**
   * Durable. Removes the parts sent to a chat, the chat as last recipient of sessions, and the person from the ledger
   * of model calls.
   */
  removeSentTo(
    chat: Person,
  ): Promise<{ readonly parts: number; readonly messageIds: number; readonly recipients: number }>;
  /** Key-value data of all namespaces whose key or value contains the text. */
  rowsAbout(text: string): Promise<readonly StoredRow[]>;
}
