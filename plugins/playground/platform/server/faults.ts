/** Injected faults that simulate an unreliable network and a busy platform. */
import type { RawParams } from "../params.ts";

export const faultKinds = [
  "drop",
  "delay",
  "status",
  "reset-before",
  "reset-after",
  "garbage",
  "flood",
  "refuse",
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** The fault for one call. */
export interface Mishap {
  /**
   * `drop`: no answer, no effect. `delay`: answered after `ms`. `status`: a 5xx answer, no effect. `reset-before`: the
   * connection breaks before the call has an effect. `reset-after`: the call takes effect, then the connection breaks.
   * `garbage`: an HTML page instead of JSON, no effect. `flood`: 429 with `retryAfter` seconds. `refuse`: `status`
   * (default 400) with `description`, no effect.
   */
  readonly kind: FaultKind;
  /** A delay in milliseconds, which every kind may have. */
  readonly ms?: number;
  readonly status?: number;
  readonly retryAfter?: number;
  readonly description?: string;
}

export interface Fault extends Mishap {
  /** A method's name, `file` for downloads, or `*` for all. */
  readonly method: string;
  /** How many calls it affects. */
  readonly times: number;
}

/** Returns the fault for a call that no configured fault matches; `undefined` for none. */
export type Chance = (method: string, params: RawParams) => Mishap | undefined;

export interface Faults {
  add(fault: Fault): void;
  /** Sets the function for all other calls; `undefined` removes it. */
  leaveTo(chance: Chance | undefined): void;
  /** The remaining faults, with the number of calls that they still affect. */
  list(): readonly Fault[];
  clear(): void;
  /** Returns the fault for this call and counts it as used. */
  take(method: string, params?: RawParams): Mishap | undefined;
}

const maxFaults = 100;

export function createFaults(): Faults {
  let active: { fault: Fault; left: number }[] = [];
  let chance: Chance | undefined;
  return {
    add(fault) {
      if (active.length >= maxFaults) throw new Error(`at most ${maxFaults} faults can wait; clear some first`);
      active.push({ fault, left: fault.times });
    },
    list: () => active.map(({ fault, left }) => ({ ...fault, times: left })),
    clear() {
      active = [];
    },
    leaveTo(next) {
      chance = next;
    },
    take(method, params = {}) {
      const hit = active.find(
        ({ fault }) => fault.method === "*" || fault.method.toLowerCase() === method.toLowerCase(),
      );
      if (hit === undefined) return chance?.(method, params);
      hit.left -= 1;
      if (hit.left <= 0) active = active.filter((entry) => entry !== hit);
      return hit.fault;
    },
  };
}

/** Validates a fault that was sent over HTTP. */
export function parseFault(value: Readonly<Record<string, unknown>>): Fault {
  const { method = "*", times = 1, kind, ms, status, retryAfter, description } = value;
  if (typeof method !== "string" || !/^(?:\*|[A-Za-z]{1,64})$/.test(method))
    throw new Error("method: a method's name or *");
  if (!faultKinds.includes(kind as FaultKind)) throw new Error(`kind: one of ${faultKinds.join(", ")}`);
  const number = (name: string, given: unknown, least: number, most: number): Record<string, number> => {
    if (given === undefined) return {};
    if (typeof given !== "number" || !Number.isInteger(given) || given < least || given > most) {
      throw new Error(`${name}: a whole number from ${least} to ${most}`);
    }
    return { [name]: given };
  };
  number("times", times, 1, 1_000_000);
  return {
    method,
    times: times as number,
    kind: kind as FaultKind,
    ...number("ms", ms, 0, 600_000),
    ...number("status", status, 400, 599),
    ...number("retryAfter", retryAfter, 1, 86_400),
    ...(typeof description === "string" ? { description: description.slice(0, 500) } : {}),
  };
}
