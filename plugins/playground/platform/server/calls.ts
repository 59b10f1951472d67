/** The last calls of the bots, for tests and the page. */

export interface RecordedCall {
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly bot: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** HTTP status; 0 if no answer was sent. */
  readonly status: number;
  /** Why the call had no effect, even if the bot was not informed. */
  readonly description?: string;
  readonly fault?: string;
  /** The body of the answer, cut. */
  readonly answer?: string;
  /** The latest message of a person in the call's chat, which the bot is answering. */
  readonly about?: Asked;
}

export interface Asked {
  readonly chat: number;
  readonly message: number;
  readonly from: string;
  readonly text: string;
}

export interface CallLog {
  /** Recorded calls, oldest first. */
  list(filter?: {
    readonly method?: string;
    readonly since?: number;
    readonly limit?: number;
  }): readonly RecordedCall[];
  /** Turns recording on or off, because it takes a little time in benchmarks. */
  record(on: boolean): void;
  clear(): void;
}

const capacity = 10_000;

export function createCallLog(
  on: boolean,
): CallLog & { add(call: Omit<RecordedCall, "seq">): number; readonly recording: () => boolean } {
  let ring: RecordedCall[] = [];
  let recording = on;
  let seq = 0;
  return {
    recording: () => recording,
    add(call) {
      // The ring is an array; its oldest entry is at `seq % capacity`.
      ring[seq % capacity] = { seq, ...call };
      seq += 1;
      return seq - 1;
    },
    list({ method, since = 0, limit = capacity } = {}) {
      const start = seq % capacity;
      const ordered = ring.length < capacity ? ring : [...ring.slice(start), ...ring.slice(0, start)];
      return ordered
        .filter((call) => call.seq >= since && (method === undefined || call.method === method))
        .slice(-limit);
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
