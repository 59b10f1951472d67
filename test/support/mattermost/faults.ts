/** Calls that go wrong on demand. */

/**
 * - `flood`: refused, with a wait of `retryAfter` seconds.
 * - `cut`, `hang`, `late-error`: the server does it, and the answer is lost, never comes, or is a 500.
 * - `cut-before`, `stall`, `error`, `proxy`: nothing is done: the connection breaks, no answer comes, the server fails,
 *   or a proxy answers 502.
 * - `refuse`: refused with `id` and `status`.
 */
export interface Fault {
  readonly kind: "flood" | "cut" | "hang" | "late-error" | "cut-before" | "stall" | "error" | "proxy" | "refuse";
  /** Method and path, such as `POST posts`; absent: every call. */
  readonly call?: RegExp;
  readonly times?: number;
  readonly retryAfter?: number;
  readonly id?: string;
  readonly status?: number;
  /** Called when it has gone wrong. */
  happened?(): void;
}

export function createFaults() {
  const waiting: { readonly fault: Fault; left: number }[] = [];
  return {
    add(fault: Fault): void {
      waiting.push({ fault, left: fault.times ?? 1 });
    },
    /** The fault of this call. */
    next(call: string): Fault | undefined {
      const found = waiting.find(({ fault, left }) => left > 0 && (fault.call?.test(call) ?? true));
      if (found !== undefined) found.left -= 1;
      return found?.fault;
    },
  };
}
