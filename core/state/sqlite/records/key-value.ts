/** Key-value data with an expiry time. Expired entries are invisible even before they are removed. */
import type { Json } from "../../../contract/index.ts";
import type { Statements } from "../database/statements.ts";
import type { WriteContext } from "../database/writer-database.ts";

export interface Place {
  readonly namespace: string;
  readonly key: string;
}

interface Entry {
  readonly value: string;
  readonly expires_at: number | null;
}

export interface SwapInput extends Place {
  /** JSON text that the key must have; `null` if it must be absent. */
  readonly expected: string | null;
  /** JSON text to store; `null` deletes the key. */
  readonly next: string | null;
  /** `undefined` keeps the current expiry time. */
  readonly expiresAt: number | undefined;
  readonly now: number;
}

export type SwapResult = { readonly done: true } | { readonly done: false; readonly found: string | null };

const put = "INSERT OR REPLACE INTO kv (namespace, key, value, expires_at) VALUES (?, ?, ?, ?)";

function live(sql: Statements, { namespace, key }: Place, now: number): Entry | undefined {
  const entry = sql.one<Entry>("SELECT value, expires_at FROM kv WHERE namespace = ? AND key = ?", namespace, key);
  return entry && (entry.expires_at === null || entry.expires_at > now) ? entry : undefined;
}

export function keyValueWrites(context: WriteContext) {
  const remove = ({ namespace, key }: Place) =>
    context.run("DELETE FROM kv WHERE namespace = ? AND key = ?", namespace, key);
  return {
    set(input: Place & { readonly value: string; readonly expiresAt: number | null }): void {
      context.run(put, input.namespace, input.key, input.value, input.expiresAt);
    },

    delete(input: Place & { readonly now: number }): boolean {
      const found = live(context, input, input.now) !== undefined;
      remove(input);
      return found;
    },

    swap(input: SwapInput): SwapResult {
      const entry = live(context, input, input.now);
      const found = entry?.value ?? null;
      if (found !== input.expected) return { done: false, found };
      if (input.next === null) remove(input);
      else context.run(put, input.namespace, input.key, input.next, input.expiresAt ?? entry?.expires_at ?? null);
      return { done: true };
    },
  };
}

export function keyValueReads(sql: Statements, now: () => number) {
  return {
    /** The JSON text of a value. */
    text(namespace: string, key: string): string | null {
      return live(sql, { namespace, key }, now())?.value ?? null;
    },

    list(namespace: string, { prefix = "", limit = -1 }: { prefix?: string; limit?: number } = {}) {
      const rows = sql.all<Entry & { key: string }>(
        `SELECT key, value, expires_at FROM kv
         WHERE namespace = ? AND key >= ? AND key < ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY key LIMIT ?`,
        namespace,
        prefix,
        // The highest code point. Every key with the prefix sorts below it.
        `${prefix}\u{10FFFF}`,
        now(),
        limit,
      );
      return rows.map((row) => ({
        key: row.key,
        value: JSON.parse(row.value) as Json,
        ...(row.expires_at !== null && { expiresAt: row.expires_at }),
      }));
    },
  };
}
