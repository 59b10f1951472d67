/** The last calls of the bots, for tests and for the page. */

export interface RecordedCall {
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly bot: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** 0: no answer was given. */
  readonly status: number;
  /** Why it was not done, whether the bot heard of it or not. */
  readonly description?: string;
  readonly fault?: string;
  /** The body of the answer, cut. */
  readonly answer?: string;
  /** The person's message that came last in the chat of the call: what the bot answers. */
  readonly about?: Asked;
}

export interface Asked {
  readonly chat: number;
  readonly message: number;
  readonly from: string;
  readonly text: string;
}

export interface CallLog {
  /** Oldest first. */
  list(filter?: { readonly method?: string; readonly since?: number; readonly limit?: number }): readonly RecordedCall[];
  /** Switches recording on or off; it costs a little in benchmarks. */
  record(on: boolean): void;
  clear(): void;
}

const capacity = 10_000;

export function createCallLog(on: boolean): CallLog & { add(call: Omit<RecordedCall, "seq">): number; readonly recording: () => boolean } {
  let ring: RecordedCall[] = [];
  let recording = on;
  let seq = 0;
  return {
    recording: () => recording,
    add(call) {
      // The ring is kept as an array in order of age, from `seq % capacity` on.
      ring[seq % capacity] = { seq, ...call };
      seq += 1;
      return seq - 1;
    },
    list({ method, since = 0, limit = capacity } = {}) {
      const start = seq % capacity;
      const ordered = ring.length < capacity ? ring : [...ring.slice(start), ...ring.slice(0, start)];
      return ordered.filter((call) => call.seq >= since && (method === undefined || call.method === method)).slice(-limit);
    },
    record(next) {
      recording = next;
    },
    clear() {
      ring = [];
      seq = 0;
    },
  };
}
