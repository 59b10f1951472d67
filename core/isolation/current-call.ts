/**
 * Which call runs in the thread of a plugin. The main thread reads it when the thread has ended: that call ended it.
 */

/** Memory of both threads: the id of the call, 0 between calls. What a call awaits is not part of it. */
export type CallMemory = Int32Array<SharedArrayBuffer>;

export const createCallMemory = (): CallMemory => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

export interface CurrentCall {
  /** Runs a handler until it returns, or ends the thread. */
  during<T>(id: number, run: () => T): T;
}

export function noteCurrentCall(memory: CallMemory): CurrentCall {
  return {
    during(id, run) {
      memory[0] = id;
      try {
        return run();
      } finally {
        memory[0] = 0;
      }
    },
  };
}

/** The id of the call that ended the thread, if one did. */
export function lastCall(memory: CallMemory): number | undefined {
  return memory[0] === 0 ? undefined : memory[0];
}
