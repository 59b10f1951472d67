/** Key-value data with an expiry time. */
import type { Json, Store } from "service-gateway/sdk/store";
import type { Database } from "./pool.ts";

const parsed = (text: string | null): Json | null => (text === null ? null : (JSON.parse(text) as Json));

const isLive = (place: number) => `(expires_at IS NULL OR expires_at > $${place})`;

export function keyValueMethods(database: Database, now: () => number) {
  const last = new Map<string, Promise<unknown>>();

  /** Writes of one key are executed in the order of the calls, whichever connection each of them uses. */
  async function inOrder<Result>(namespace: string, key: string, write: () => Promise<Result>): Promise<Result> {
    const place = JSON.stringify([namespace, key]);
    const before = last.get(place);
    const written = before === undefined ? write() : before.then(write, write);
    last.set(place, written);
    try {
      return await written;
    } finally {
      if (last.get(place) === written) last.delete(place);
    }
  }

  const textOf = async (namespace: string, key: string): Promise<string | null> => {
    const [row] = await database.query<{ value: string }>(
      `SELECT value FROM @kv WHERE namespace = $1 AND key = $2 AND ${isLive(3)}`,
      [namespace, key, now()],
    );
    return row?.value ?? null;
  };

  return {
    get: async (namespace, key) => parsed(await textOf(namespace, key)),
    set: (namespace, key, value, { expiresAt, durable = false } = {}) =>
      inOrder(namespace, key, async () => {
        await database.call("set_value", [namespace, key, JSON.stringify(value), expiresAt ?? null, durable]);
      }),
    delete: (namespace, key) =>
      inOrder(namespace, key, async () => {
        const [row] = await database.call<{ delete_value: boolean }>("delete_value", [namespace, key, now()]);
        return row?.delete_value === true;
      }),
    async list(namespace, { prefix = "", limit } = {}) {
      const rows = await database.query<{ key: string; value: string; expires_at: number | null }>(
        `SELECT key, value, expires_at FROM @kv WHERE namespace = $1 AND key >= $2 AND starts_with(key, $2)
        AND ${isLive(3)}
         ORDER BY key LIMIT $4`,
        [namespace, prefix, now(), limit ?? null],
      );
      return rows.map(({ key, value, expires_at }) => ({
        key,
        value: JSON.parse(value) as Json,
        ...(expires_at !== null && { expiresAt: expires_at }),
      }));
    },
    update: (namespace, key, change, { expiresAt } = {}) =>
      inOrder(namespace, key, async () => {
        let expected = await textOf(namespace, key);
        for (;;) {
          const next = change(parsed(expected));
          if (next === undefined) return parsed(expected);
          const text = next === null ? null : JSON.stringify(next);
          let again = false;
          const [row] = await database.call<{ done: boolean; current: string | null }>("swap_value", (repeated) => {
            again = repeated;
            return [namespace, key, expected, text, expiresAt ?? null, now()];
          });
          // Of a repeated call, the first may have been committed.
          if (row?.done === true || (again && row?.current === text)) return next;
          expected = row?.current ?? null;
        }
      }),
  } satisfies Partial<Store>;
}
