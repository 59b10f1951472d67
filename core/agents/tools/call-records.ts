/**
 * Calls of tools as the store keeps them: written before a call begins, and again with its result. A turn that an
 * interruption cut off finds here what its earlier run has called.
 */
import { type Json, parseExactJson } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import { placeOfRaw } from "./exact-arguments.ts";

const namespace = "tool-calls";
/** As long as an event is kept, which an operator can run again. */
const keepMs = 7 * 24 * 60 * 60_000;

export interface CallRecord {
  readonly name: string;
  readonly plugin: string;
  /** Position among the turn's calls of this tool; 1 is the first. */
  readonly ordinal: number;
  readonly args: Json;
  /** When it began, epoch milliseconds. */
  readonly at: number;
  /** The key of the question to an owner that allowed it. */
  readonly approval?: string;
  /** Absent until the call has ended, and where an interruption cut it off. Without its files. */
  readonly result?: Json;
  /** The result is in the gateway's own words. */
  readonly words?: "gateway";
  /** The code of a result that says that the call was not done. */
  readonly code?: string;
}

/**
 * `exact`: the JSON text of the arguments and the result. A store takes no raw JSON, which keeps all digits of a
 * number.
 */
type StoredRecord = CallRecord | (Omit<CallRecord, "args" | "result"> & { readonly exact: string });

function stored({ args, result, ...record }: CallRecord): StoredRecord {
  const values = { args, result };
  return placeOfRaw(values) === undefined ? { ...record, ...values } : { ...record, exact: JSON.stringify(values) };
}

function recordOf(value: StoredRecord): CallRecord {
  if (!("exact" in value)) return value;
  const { exact, ...record } = value;
  return { ...record, ...(parseExactJson(exact) as Pick<CallRecord, "args" | "result">) };
}

export interface CallRecords {
  /** The calls of an event's runs, in the order of their beginning. */
  of(event: string): Promise<readonly CallRecord[]>;
  /** Resolves when the record is flushed to the disk. */
  write(event: string, record: CallRecord): Promise<void>;
  remove(event: string, records: readonly CallRecord[]): Promise<unknown>;
}

const keyOf = (event: string, { name, ordinal }: Pick<CallRecord, "name" | "ordinal">) => `${event}:${name}:${ordinal}`;

export function createCallRecords({
  store,
  now,
}: {
  readonly store: Pick<Store, "set" | "list" | "delete">;
  readonly now: () => number;
}): CallRecords {
  return {
    async of(event) {
      const found = await store.list(namespace, { prefix: `${event}:` });
      return found
        .map(({ value }) => recordOf(value as unknown as StoredRecord))
        .sort((one, other) => one.at - other.at);
    },
    write: (event, record) =>
      store.set(namespace, keyOf(event, record), stored(record) as unknown as Json, {
        durable: true,
        expiresAt: now() + keepMs,
      }),
    remove: (event, records) => Promise.all(records.map((record) => store.delete(namespace, keyOf(event, record)))),
  };
}
