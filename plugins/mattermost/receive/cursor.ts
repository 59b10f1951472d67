/** Up to which time of the server everything is stored: what came later is fetched after an absence. */
import type { ChannelAccount } from "service-gateway/sdk/channel";

export interface Cursor {
  /** Epoch milliseconds of the server; `undefined` before the first connection. */
  load(): Promise<number | undefined>;
  advance(to: number): void;
  /** Writes what was not written yet. */
  flush(): Promise<void>;
}

/** What is not written is fetched again after a kill, and recognised. */
const writeEveryMs = 1_000;

export function createCursor({ store, now, log }: Pick<ChannelAccount, "store" | "now" | "log">): Cursor {
  const key = "since";
  let at: number | undefined;
  let written = 0;
  let writtenAt = Number.NEGATIVE_INFINITY;

  async function flush(): Promise<void> {
    if (at === undefined || at === written) return;
    written = at;
    writtenAt = now();
    await store
      .set(key, at)
      .catch((error: unknown) => log.debug({ error: String(error) }, "the time of the last event was not stored"));
  }

  return {
    async load() {
      at ??= Number((await store.get(key)) ?? Number.NaN) || undefined;
      return at;
    },
    advance(to) {
      if (to <= (at ?? 0)) return;
      at = to;
      const since = now() - writtenAt;
      if (since >= writeEveryMs || since < 0) void flush();
    },
    flush,
  };
}
