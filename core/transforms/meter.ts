/**
 * What a thread computes now, in memory that the gateway reads too. A thread within one long operation of its engine
 * sends no message and comes to no check of its own; the gateway sees it here and ends the thread.
 */

/** Milliseconds. */
export interface Spent {
  readonly clock: number;
  readonly cpu: number;
}

/** The CPU time of this thread so far. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * The time by the clock counts, so that a loop ends when it should. On a machine that is busy with other work a short
 * call takes long by the clock: then at most this many times its CPU time counts.
 */
export const mostTimesCpu = 8;

export interface Meter {
  /** The code of a call computes from now on, and may do so for `leftMs`. */
  begin(request: number, leftMs: number, isLoading: boolean): void;
  end(): void;
  /** Does work of the host that is not charged to the code. */
  pause<T>(work: () => T): T;
}

/** What computes, as the gateway sees it. Two values of `turn` that are equal mean the same turn. */
export interface Computing {
  readonly turn: number;
  readonly request: number;
  readonly leftMs: number;
  readonly isLoading: boolean;
}

/** 0: the turn, or zero; 1: the number of the call; 2: milliseconds; 3: whether the module is being loaded. */
export type MeterMemory = Int32Array<SharedArrayBuffer>;

export const createMeterMemory = (): MeterMemory =>
  new Int32Array(new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT));

export function createComputingMeter(memory: MeterMemory): Meter {
  let turn = 0;
  const show = () => {
    turn = turn === 2 ** 31 - 1 ? 1 : turn + 1;
    Atomics.store(memory, 0, turn);
  };
  const end = () => void Atomics.store(memory, 0, 0);
  return {
    begin(request, leftMs, isLoading) {
      memory[1] = request;
      memory[2] = Math.max(0, leftMs);
      memory[3] = isLoading ? 1 : 0;
      show();
    },
    end,
    pause(work) {
      end();
      try {
        return work();
      } finally {
        show();
      }
    },
  };
}

/** `undefined` if nothing computes. */
export function readMeter(memory: MeterMemory): Computing | undefined {
  const turn = Atomics.load(memory, 0);
  const [, request = 0, leftMs = 0, isLoading] = memory;
  return turn === 0 || Atomics.load(memory, 0) !== turn
    ? undefined
    : { turn, request, leftMs, isLoading: isLoading === 1 };
}
