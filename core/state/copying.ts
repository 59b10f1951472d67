/**
 * Copies of a whole state: what a store offers so that its content can be read, in a form without any database's
 * details, and written elsewhere.
 */
import type { Json } from "../contract/index.ts";

/** Everything that is copied, in the order of copying. */
export const copyKinds = [
  "counter",
  "event",
  "dedupe",
  "unit",
  "decision",
  "outbox",
  "sent",
  "session",
  "transcript",
  "message",
  "summary",
  "modelCall",
  "keyValue",
] as const;

/** One of `copyKinds`. */
export type CopyKind = (typeof copyKinds)[number];

/**
 * A row. Its names and words are those of the port, its numeric ids are kept, because they define order. Texts contain
 * no U+0000. JSON that only the caller of the store reads is a text, and an infinite number is the text `Infinity`.
 */
export type CopyRow = Readonly<Record<string, Json>>;

/** Identifies a row among those of its kind, and orders them. */
export type CopyKey = readonly (string | number)[];

/** What the target of a copy notes with each batch of rows, until the copy is complete. */
export interface CopyRecord {
  /** Identifies the source. */
  readonly source: string;
  readonly kind: CopyKind;
  /** The last row that is copied; `null` at the beginning of a kind. */
  readonly after: CopyKey | null;
}

/** Where a store keeps the record of a copy and its own identity, among its key-value data. It is not copied. */
export const copyNamespace = "state-copy";
/** The key of that record. */
export const copyRecordKey = "record";

/** Offered by a store whose state can be copied. The gateways of both states are stopped meanwhile. */
export interface Copying {
  /**
   * Rows of a kind after a key, in the order of their keys: at most `rows`, and no more once they have `characters`.
   * `next` is the key of the last one; `null` if there are no more rows. Running events and units are read as waiting.
   * Leases and tokens are not read.
   */
  read(
    kind: CopyKind,
    options: { readonly after: CopyKey | null; readonly rows: number; readonly characters: number },
  ): Promise<{ readonly rows: readonly CopyRow[]; readonly next: CopyKey | null }>;
  /** Number of rows of each kind. */
  counts(): Promise<Readonly<Record<CopyKind, number>>>;
  /**
   * Durable. Makes the store the target of a copy. Resolves with `false` if it contains anything, or a gateway uses it.
   * Until `finish`, the store's `begin` rejects with `state_copy_unfinished`.
   */
  begin(record: CopyRecord): Promise<boolean>;
  /**
   * Durable. Stores rows and the record in one commit. Rows that are stored already are left as they are. Rejects
   * before `begin`.
   */
  write(kind: CopyKind, rows: readonly CopyRow[], record: CopyRecord): Promise<void>;
  /** Durable. Completes the copy: later rows get ids above the copied ones. Removes the record. */
  finish(): Promise<void>;
}
